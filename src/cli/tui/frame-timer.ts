/** Draws at most one frame per interval, and immediately if asked to. */

const FRAME_INTERVAL_MS = 33;

export class FrameTimer implements Disposable {
  readonly #draw: () => void;
  #timer: NodeJS.Timeout | undefined;
  #drawnAt = 0;

  constructor(draw: () => void) {
    this.#draw = draw;
  }

  /** Draws soon. For output that streams. */
  request(): void {
    if (this.#timer !== undefined) return;
    const wait = Math.max(0, FRAME_INTERVAL_MS - (performance.now() - this.#drawnAt));
    this.#timer = setTimeout(() => this.now(), wait);
  }

  /** Draws at once. For keys. */
  now(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#draw();
    this.#drawnAt = performance.now();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
