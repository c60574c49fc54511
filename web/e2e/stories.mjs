// All stories, in the order in which they are told.
import { STORIES as door } from "./stories/door.mjs";
import { STORIES as work } from "./stories/work.mjs";
import { STORIES as asking } from "./stories/asking.mjs";
import { STORIES as typing } from "./stories/typing.mjs";
import { STORIES as outcome } from "./stories/outcome.mjs";
import { STORIES as viewers } from "./stories/viewers.mjs";
import { STORIES as trouble } from "./stories/trouble.mjs";
import { STORIES as others } from "./stories/others.mjs";
import { STORIES as keyboard } from "./stories/keyboard.mjs";
import { STORIES as widths } from "./stories/widths.mjs";
import { STORIES as cut } from "./stories/cut.mjs";
import { STORIES as overlays } from "./stories/overlays.mjs";
import { STORIES as earlier } from "./stories/earlier.mjs";
import { STORIES as outside } from "./stories/outside.mjs";
import { STORIES as keys } from "./stories/keys.mjs";
import { STORIES as files } from "./stories/files.mjs";
import { STORIES as changes } from "./stories/changes.mjs";

export const STORIES = [...door, ...work, ...asking, ...typing, ...outcome, ...files, ...changes, ...viewers, ...trouble, ...cut, ...others, ...keyboard, ...widths, ...overlays, ...earlier, ...outside, ...keys];
