import { expect, it } from "vitest";
import { mapInLoopSlices, nextLoopSlice } from "./loop-slice.ts";
import { WorkPerTurn } from "./test-work-per-turn.ts";

const PIECE_MS = 4;
const PIECES = 12;

/** Blocks the event loop. */
function work(milliseconds: number): void {
  for (const until = performance.now() + milliseconds; performance.now() < until;);
}

it("yields to the event loop after a few pieces, no matter how much work is queued", async () => {
  let [inThisTurn, most, working] = [0, 0, true];
  const look = (): void => {
    inThisTurn = 0;
    if (working) setImmediate(look);
  };
  setImmediate(look);
  const done = Array.from({ length: 10 }, () => 0);
  let widest = 0;
  const longWork = async (index: number): Promise<void> => {
    for (let piece = 1; piece <= PIECES; piece += 1) {
      const slice = nextLoopSlice();
      if (slice !== undefined) await slice;
      work(PIECE_MS);
      inThisTurn += 1;
      most = Math.max(most, inThisTurn);
      done[index] = piece;
      widest = Math.max(widest, Math.max(...done) - Math.min(...done));
    }
  };
  await Promise.all(done.map((_, index) => longWork(index)));
  working = false;
  expect(done).toEqual(done.map(() => PIECES));
  expect(most).toBeLessThanOrEqual(4); // a turn has a slice of 8 ms, and may have the rest of another
  expect(widest).toBeLessThanOrEqual(3); // they take turns
});

it("runs a single piece at once", async () => {
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  expect(nextLoopSlice()).toBeUndefined();
});

it("maps a long list in order, a few pieces per turn", async () => {
  using perTurn = new WorkPerTurn();
  const list = Array.from({ length: 1_000 }, (_, index) => index);
  const doubled = await mapInLoopSlices(list, (item) => {
    perTurn.work();
    return item * 2;
  });
  expect(doubled).toEqual(list.map((item) => item * 2));
  expect(perTurn.max).toBeLessThanOrEqual(200);
});
