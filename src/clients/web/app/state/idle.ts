/** Runs a function after the next frame is on the screen, so that its work does not delay the frame. */
export function afterPaint(run: () => void): void {
  // A page in the background has no frames.
  if (document.hidden) setTimeout(run)
  else requestAnimationFrame(() => setTimeout(run))
}

/** Runs a function when the browser is idle. Safari has no idle callbacks. */
export const whenIdle = (run: () => void) =>
  'requestIdleCallback' in window ? requestIdleCallback(run, { timeout: 2_000 }) : setTimeout(run, 200)
