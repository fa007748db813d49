// Writes or follows in a separate process. Prints "ready", waits for a line and then works. Started by ../store.mjs and
// ../cluster.mjs.
import { once } from "node:events";
import { event, opened, write } from "./events.mjs";
import { openBenchStore } from "./open.mjs";

const [role, place, argument] = process.argv.slice(2);
const store = await openBenchStore(place);
const options = JSON.parse(argument);

const roles = {
  async writer({ sessionId, count, batch, inFlight }) {
    await store.append(opened(sessionId));
    await told();
    await write(store, { sessionId, count, batch, inFlight });
    say({ ended: Date.now() });
  },
  async follower({ sessionId, count }) {
    const delays = [];
    await told();
    for await (const { text, type } of store.follow({ sessionId, after: 0 })) {
      if (type === "session.opened") continue;
      delays.push(Number(process.hrtime.bigint() - BigInt(text.split(" ", 1)[0])) / 1e6);
      if (delays.length === count) break;
    }
    say({ delays });
  },
  /** Appends single events with pauses. The text of each starts with the machine's monotonic time just before its append. */
  async ticker({ sessionId, count }) {
    await told();
    for (let head = 1; head <= count; head += 1) {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 4));
      const draft = event(head + 1);
      const events = [{ ...draft, text: `${process.hrtime.bigint()} `.padEnd(draft.text.length, "x") }];
      await store.append({ sessionId, id: `t${head}`, expectedHead: head, events });
    }
    say({});
  },
};

async function told() {
  say("ready");
  await once(process.stdin, "data");
}

function say(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

await roles[role](options);
await store[Symbol.asyncDispose]();
process.stdin.destroy();
