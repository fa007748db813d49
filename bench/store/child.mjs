// Writes or follows in a separate process. Prints "ready", waits for a line and then works. Started by ../store.mjs.
import { once } from "node:events";
import { openSqliteStore } from "../../dist/index.js";
import { event, opened, write } from "./events.mjs";

const [role, path, argument] = process.argv.slice(2);
const store = await openSqliteStore({ path });
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
    for await (const { at, type } of store.follow({ sessionId, after: 0 })) {
      if (type === "session.opened") continue;
      delays.push(Number(process.hrtime.bigint() - BigInt(at)) / 1e6);
      if (delays.length === count) break;
    }
    say({ delays });
  },
  /** Appends single events with pauses. Each has the machine's monotonic time just before its append in `at`. */
  async ticker({ sessionId, count }) {
    await told();
    for (let head = 1; head <= count; head += 1) {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 4));
      const events = [{ ...event(head + 1), at: String(process.hrtime.bigint()) }];
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
