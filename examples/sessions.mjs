// Lists every session of the log and what it waits for.
import { Rookery } from "rookery";

const rookery = await Rookery.open();
for (const { id, agent, status, turns, waitingFor, title } of await rookery.sessions({ limit: 20 })) {
  console.log(`${id}  ${agent}  ${status}  ${turns} turns  ${waitingFor.join(",")}  ${title ?? ""}`);
}
await rookery.close();
