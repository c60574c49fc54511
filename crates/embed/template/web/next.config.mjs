// What people see in the preview is the app, without the dev server's badge on it.
export default { devIndicators: false };
