/** More updates than anybody should hold, generated on demand, so that the test can count what was read. */

import { Readable } from "node:stream";
import { turns } from "./test-peer.ts";

const UPDATES_IN_A_CHUNK = 250;
/** A reader may pause between chunks for a while; a stopped reader never reads again. */
const TURNS_OF_SILENCE = 500;

export class Flood {
  taken = 0;
  readonly count: number;
  readonly source: Readable;

  constructor(count: number) {
    this.count = count;
    this.source = Readable.from(this.#chunks(), { objectMode: false, highWaterMark: 1 });
  }

  /** The params of the update with this number, as JSON. */
  params(index: number): string {
    const content = { type: "text", text: `update ${index} `.padEnd(100, ".") };
    return JSON.stringify({ sessionId: "s1", update: { sessionUpdate: "agent_message_chunk", content } });
  }

  /** Waits until the source is exhausted or nobody has read from it for a long time. */
  async still(): Promise<void> {
    for (let before = -1; before !== this.taken && this.taken < this.count;) {
      before = this.taken;
      await turns(TURNS_OF_SILENCE);
    }
  }

  *#chunks(): Generator<Buffer> {
    while (this.taken < this.count) {
      let chunk = "";
      const end = Math.min(this.taken + UPDATES_IN_A_CHUNK, this.count);
      for (; this.taken < end; this.taken += 1) {
        chunk += `{"jsonrpc":"2.0","method":"session/update","params":${this.params(this.taken)}}\n`;
      }
      yield Buffer.from(chunk);
    }
  }
}
