// Lists what is in the log: every session, whoever ran it, and what it is waiting for.
import { Rookery } from "rookery";

const rookery = await Rookery.open();
for (const { id, agent, status, turns, waitingFor, title } of await rookery.sessions({ limit: 20 })) {
  console.log(`${id}  ${agent}  ${status}  ${turns} turns  ${waitingFor.join(",")}  ${title ?? ""}`);
}
await rookery.close();
