// A process of its own that reads what an agent says, started by ../acp.mjs: says what it measured, and ends.
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { commands, withPeer } from "./peer.mjs";
import * as readers from "./readers.mjs";

const QUIET_MS = 500;

const measures = {
  /** Updates a second, from the prompt until its answer and all of them are there. */
  async rate(peer, count) {
    let seen = 0;
    const onUpdate = () => {
      seen += 1;
    };
    const all = async (prompt, updates) => {
      seen = 0;
      await prompt(updates);
      while (seen < updates) await nextTurn();
    };
    return withPeer({ ...peer, onUpdate }, async ({ prompt }) => {
      await all(prompt, count / 5); // warm
      const started = performance.now();
      await all(prompt, count);
      return count / ((performance.now() - started) / 1000);
    });
  },

  /** Milliseconds of each of so many requests, one after the other. */
  async roundTrips(peer, count) {
    return withPeer({ ...peer, onUpdate: () => undefined }, async ({ request }) => {
      const times = [];
      for (let index = -count / 5; index < count; index += 1) {
        const started = performance.now();
        await request("_bench/echo", { index });
        if (index >= 0) times.push(performance.now() - started); // those before it are for warming up
      }
      return times;
    });
  },

  /** Nobody takes the updates: what was read from the pipe all the same, and how far the memory grew. */
  async stalled(peer, count) {
    const onUpdate = () => new Promise(() => undefined);
    return withPeer({ ...peer, onUpdate }, async ({ prompt, child }) => {
      globalThis.gc();
      const before = process.memoryUsage().rss;
      prompt(count).catch(() => undefined);
      let [bytes, most] = [-1, 0];
      while (bytes !== child.stdout.bytesRead) {
        bytes = child.stdout.bytesRead;
        await sleep(QUIET_MS);
        most = Math.max(most, process.memoryUsage().rss);
      }
      child.kill();
      return { bytes, memory: most - before };
    });
  },
};

const { measure, reader, count, through = "agent", proxies = 0 } = JSON.parse(process.argv[2]);
const peer = { reader: readers[reader], command: commands[through](proxies) };
process.stdout.write(JSON.stringify(await measures[measure](peer, count)));
process.exit();
