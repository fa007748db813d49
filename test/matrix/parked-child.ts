/** Drives one session until it is idle: a new one, or the one of an earlier process. */
import { Rookery } from "../../src/rookery.ts";
import { say } from "./boundaries.ts";

const rookery = await Rookery.open();
const [known] = await rookery.sessions();
const session = await rookery.openSession(known === undefined ? { permissions: "all" } : { id: known.id });
say({ session: session.id });
if (known === undefined) session.prompt("go").outcome.catch(() => undefined);
await session.idle();
await rookery.close();
