// Prints one table that compares Rookery's server with its peers, and the other results of the pool and the server.
// `node bench/peers/run.mjs [--quick] [--markdown] [--peers]`; --peers runs only the comparison.
import { cpus, totalmem } from "node:os";
import { readFileSync } from "node:fs";
import { run as pool } from "../pool.mjs";
import { inTurns, none, rateOf, run as server, to } from "../server.mjs";
import { burst } from "../server/burst.mjs";
import { deliver } from "../server/deliver.mjs";
import { talkative } from "../server/model.mjs";
import { within } from "../server/program.mjs";
import { asAgent, OWN_AGENT, startRookery } from "../server/servers.mjs";
import { median, print } from "../table.mjs";
import { run as worktrees } from "../worktrees.mjs";
import { runAcpx } from "./acpx.mjs";
import { installed } from "./install.mjs";
import { asMarkdown } from "./markdown.mjs";
import { startOpencode } from "./opencode.mjs";
import { startSandboxAgent } from "./sandbox-agent.mjs";

const MANY = 32;
const peers = installed();
const has = (flag) => process.argv.includes(flag);
const quick = has("--quick");

const parts = { "sandbox-agent": besideSandboxAgent, acpx: besideAcpx, opencode: besideOpencode };
if (!has("--peers")) Object.assign(parts, { "the server": server, worktrees, "the pool": pool });
const rows = [];
for (const [name, run] of Object.entries(parts)) {
  process.stderr.write(`Measuring ${name}…\n`); // all measurements take minutes
  rows.push(...(await run({ quick })));
}

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
const names = Object.entries(peers).map(([name, peer]) => `${name} ${peer.version}`);
const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 1024 ** 3)} GiB, Node ${process.version}`;
const title = `${new Date().toISOString().slice(0, 10)}: Rookery ${version} beside ${names.join(", ")}, on ${machine}`;
if (has("--markdown")) console.log(asMarkdown(title, rows));
else print(title, rows);

async function besideSandboxAgent() {
  const { program } = peers["sandbox-agent"];
  const rounds = quick ? 2 : 5;
  const to = async (readers, total) => {
    let agent;
    const ours = (folder) => {
      agent = burst(folder, total);
      return startRookery({ folder, toml: asAgent(agent) });
    };
    const theirs = (folder) => startSandboxAgent({ folder, agent, program });
    const measured = { readers, rounds, said: () => agent, target: 2 };
    return beside("an agent's texts", "sandbox-agent", { ours, theirs, ...measured });
  };
  return [...(await to(1, quick ? 20_000 : 100_000)), ...(await to(MANY, quick ? 10_000 : 30_000))];
}

/** opencode supports no other agent, so both drive the same scripted model. */
async function besideOpencode() {
  const { program } = peers.opencode;
  const model = await talkative(quick ? 1_000 : 5_000);
  const ours = (folder) => startRookery({ folder, toml: OWN_AGENT, extra: model.env });
  const theirs = (folder) => startOpencode({ folder, model, program });
  const to = (readers) => {
    const measured = { readers, rounds: quick ? 1 : 3, said: () => model };
    return beside("a model's texts", "opencode", { ours, theirs, ...measured });
  };
  try {
    return [...(await to(1)), ...(await to(MANY))];
  } finally {
    await model.close();
  }
}

function beside(what, peer, { ours, theirs, readers, rounds, said, target }) {
  return within(ours, (rookery) =>
    within(theirs, async (other) => {
      for (const one of [rookery, other]) await deliver(one, said(), { readers: 1 }); // warm up
      const [mine, its] = await inTurns(rounds, [rookery, other], (one) => deliver(one, said(), { readers }));
      const way = `${what} to ${to(readers)}`;
      const times = rateOf(mine) / rateOf(its);
      const aim = target === undefined ? {} : { target: `≥ ${target}× ${peer}`, ok: times >= target };
      return [
        { name: `${peer}: ${way}`, value: rateOf(its), unit: "texts/s" },
        { name: `${peer}: lost on the way`, value: median(its.map(({ lost }) => lost)) * 100, unit: "%" },
        { name: `rookery, through the log: ${way}`, value: rateOf(mine), unit: "texts/s" },
        { name: "rookery: lost or out of order on the way", ...none(mine) },
        { name: `rookery beside ${peer}`, value: times, unit: "×", ...aim },
      ];
    }),
  );
}

/** acpx is a command, not a server: its only reader is its stdout. */
async function besideAcpx() {
  const [total, kept, rounds] = quick ? [10_000, 2_000, 1] : [50_000, 10_000, 3];
  const { program } = peers.acpx;
  const rows = [];
  for (const [how, count, name] of [
    ["exec", total, "acpx exec: an agent's texts to its output, none kept"],
    ["prompt", kept, "acpx prompt: an agent's texts to its output, kept in files"],
  ]) {
    const measure = () =>
      within(
        () => undefined,
        (_, folder) => runAcpx({ folder, agent: burst(folder, count), program, how }),
      );
    const [found] = await inTurns(rounds, [undefined], measure);
    rows.push({ name, value: rateOf(found), unit: "texts/s" });
  }
  return rows;
}
