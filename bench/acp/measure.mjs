// Reads the updates of an agent in a separate process, prints the measurement and exits. Started by ../acp.mjs.
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { commands, withPeer } from "./peer.mjs";
import * as readers from "./readers.mjs";

const QUIET_MS = 500;

const measures = {
  /** Updates per second, from the prompt until the answer and all updates have arrived. */
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
      await all(prompt, count / 5); // warm up
      const started = performance.now();
      await all(prompt, count);
      return count / ((performance.now() - started) / 1000);
    });
  },

  /** The duration of each request in milliseconds. Requests run one after the other. */
  async roundTrips(peer, count) {
    return withPeer({ ...peer, onUpdate: () => undefined }, async ({ request }) => {
      const times = [];
      for (let index = -count / 5; index < count; index += 1) {
        const started = performance.now();
        await request("_bench/echo", { index });
        if (index >= 0) times.push(performance.now() - started); // earlier requests warm up
      }
      return times;
    });
  },

  /** Does not consume the updates. Measures how much is still read from the pipe, and how much the memory grows. */
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
