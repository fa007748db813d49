// Measurements that run inside the page. Each function is sent to it as text, so it must not use anything outside.

/**
 * Records when a text first is inside the window and painted, in milliseconds since the navigation, as
 * `benchShown`. Runs before the scripts of the page.
 */
export function watchText({ selector, text }) {
  const isInView = (element) => {
    const { top, bottom, height } = element.getBoundingClientRect();
    return height > 0 && bottom > 0 && top < innerHeight;
  };
  const check = () => {
    const found = [...document.querySelectorAll(selector)].some(
      (element) => element.textContent.includes(text) && isInView(element),
    );
    if (!found) return void requestAnimationFrame(check);
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => void (globalThis.benchShown = performance.now()); // after the frame is painted
    port2.postMessage(undefined);
  };
  requestAnimationFrame(check);
}

/** Records the end of the last task that took more than 50 ms, as `benchBusyUntil`. */
export function watchLongTasks() {
  globalThis.benchBusyUntil = 0;
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) globalThis.benchBusyUntil = startTime + duration;
  }).observe({ type: "longtask", buffered: true });
}

/**
 * Scrolls by each of the `steps`, in pixels, for `count` frames. Resolves with the time between frames, in milliseconds,
 * and the number of frames in which nothing was left to scroll.
 */
export function scrollFrames({ selector, steps, count }) {
  const element = document.querySelector(selector);
  const times = [];
  let [last, stuck] = [undefined, 0];
  return new Promise((resolve) => {
    const next = (now) => {
      if (last !== undefined) times.push(now - last);
      last = now;
      if (times.length >= count * steps.length) return resolve({ times, stuck });
      const before = element.scrollTop;
      element.scrollTop += steps[Math.floor(times.length / count)];
      if (element.scrollTop === before) stuck += 1;
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  });
}

/** Records the time from each key to the painted frame that shows it, in milliseconds, as `benchKeys`. */
export function watchKeys({ selector }) {
  globalThis.benchKeys = [];
  let pressed;
  addEventListener("keydown", ({ timeStamp }) => void (pressed = timeStamp), true);
  document.querySelector(selector).addEventListener("input", () => {
    const from = pressed;
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => globalThis.benchKeys.push(performance.now() - from);
      port2.postMessage(undefined);
    });
  });
}
