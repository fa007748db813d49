// Continues a session, even one whose process was killed during a turn. Usage: resume.mjs SESSION PROMPT
import { Rookery } from "rookery";

const [, , id, prompt] = process.argv;
if (id === undefined || prompt === undefined) throw new Error("say which session, and what to do");

const rookery = await Rookery.open();
const session = await rookery.openSession({ id, attended: false });

if (session.resumed !== undefined) console.log("left over:", (await session.resumed.outcome).status);
const outcome = await session.prompt(prompt).outcome;
console.log("then:", outcome.status);
await rookery.close();
