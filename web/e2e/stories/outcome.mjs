export const STORIES = [];
