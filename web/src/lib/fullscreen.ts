/** Fills the screen with an element, or leaves full screen. A browser that refuses leaves things as they are. */
export function toggleFull(element: HTMLElement | null) {
  const done = document.fullscreenElement ? document.exitFullscreen() : element?.requestFullscreen();
  done?.catch(() => {});
}
