// Follows a session from any process and any position of its log, until its turn ends. Usage: follow.mjs SESSION [AFTER]
import { Rookery } from "rookery";

const [, , session, after = "0"] = process.argv;
if (session === undefined) throw new Error("say which session to follow");

const rookery = await Rookery.open();
for await (const { event } of rookery.follow({ session, after: Number(after) })) {
  console.log(`${event.seq} ${event.type}`);
  if (event.type === "turn.ended") break;
}
await rookery.close();
