// Opens a session in the current directory, sends a prompt, allows every request, and prints the answer.
import { Rookery } from "rookery";

const rookery = await Rookery.open();
const session = await rookery.openSession({ permissions: "ask" });

for await (const event of session.prompt(process.argv[2] ?? "Say hello in a file")) {
  if (event.type === "message.delta") process.stdout.write(event.text);
  if (event.type === "permission.requested") await session.answer(event.requestId, { decision: "allow" });
  if (event.type === "tool.ended") console.log(`[tool ${event.outcome}]`);
  if (event.type === "turn.ended") console.log(`\n[${event.outcome.status}]`);
}

console.log(session.id);
await rookery.close();
