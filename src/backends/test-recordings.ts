/** Replays recordings of real programs with some changed lines, and checks that the session stays usable. */
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Random } from "../programs/test-fuzz.ts";
import { mutateLine } from "../programs/test-mutations.ts";
import { Rookery, type OpenSessionOptions } from "../rookery.ts";
import { isRookeryError } from "../domain/index.ts";
import type { Session, Turn } from "../session/index.ts";
import { DisposeStack, processesMarked, settlesWithin } from "../stdx/index.ts";
import { openMemoryStore } from "../store/index.ts";
import { builtEnvironment, temporaryFolder } from "../testing/index.ts";

const STAND_IN = fileURLToPath(new URL("../../test/support/stand-in/main.mjs", import.meta.url));
const RECORDED = fileURLToPath(new URL("../../test/support/recorded", import.meta.url));
/** Cases whose recordings cover much: tools, permissions, questions, plans, usage. */
const PLAYED = ["hello", "write", "permission", "deny", "question", "mcp", "usage", "dies"];
/** After this much silence the changed recording is considered finished. */
const SILENCE_MS = 800;
/** A program that has not started by then waits for a line that was changed. Rookery gives it 120 s. */
const START_MS = 8_000;
/** A cancelled turn that runs longer than this hangs. */
const HANG_MS = 40_000;

/** Codes of errors that an agent with changed lines may cause when it starts. */
const START_ERRORS = /^(agent_\w+|backend_unsupported|model_invalid|provider_auth)$/;

interface Step {
  readonly dir: string;
  readonly line?: string;
}

export interface FuzzedProgram {
  /** Resolves with a problem, or undefined if the session stayed usable. */
  play(seed: number): Promise<string | undefined>;
  /** Resolves with the number of surviving processes. */
  close(): Promise<number>;
}

/** Programs that run without permission requests. */
const ASKING_NOTHING = ["codex-exec", "gemini-headless"];

export async function openFuzzedProgram(program: string): Promise<FuzzedProgram> {
  await using opening = new DisposeStack();
  const folder = opening.use(await temporaryFolder());
  const store = opening.use(openMemoryStore());
  const recordings = await readRecordings(program);
  const env = builtEnvironment({ home: folder.path, extra: { ANTHROPIC_API_KEY: "fake", OPENAI_API_KEY: "fake" } });
  const cwd = join(folder.path, "work");
  await mkdir(cwd);
  const script = `exec ${process.execPath} ${STAND_IN} "$FUZZ_FOLDER" "$FUZZ_RECORDING" "$@"`;
  const config = [
    "[agents.it]",
    (JSON.parse(recordings[0]?.lines[0] ?? "{}") as { toml: string }).toml,
    `command = ${JSON.stringify(["sh", "-c", script, "sh"])}`,
    "[agents.healthy]",
    'backend = "command"',
    `command = ["sh", "-c", "cat > /dev/null; echo fine"]`,
  ];
  const configFolder = join(env["XDG_CONFIG_HOME"] ?? "", "rookery");
  await mkdir(configFolder, { recursive: true });
  await writeFile(join(configFolder, "rookery.toml"), `${config.join("\n")}\n`);
  const rookery = opening.use(await Rookery.open({ env, cwd, store }));
  const owned = opening.move();
  const markers = new Set<string>();
  const permissions = ASKING_NOTHING.includes(program) ? "all" : "ask";
  return {
    async play(seed) {
      const random = new Random(seed);
      const recording = recordings[random.below(recordings.length)];
      if (recording === undefined) throw new Error(`there are no recordings of ${program}`);
      const place = join(folder.path, `case-${seed}`);
      await mkdir(place);
      const file = join(place, "recording.ndjson");
      await writeFile(file, mutateRecording(random, recording.lines).join("\n"));
      const extra = { FUZZ_FOLDER: place, FUZZ_RECORDING: file };
      const problem = await playOne(rookery, { permissions, env: extra }, markers).catch((error: unknown) =>
        String(error),
      );
      return problem === undefined ? undefined : `${program} ${recording.name} seed ${seed}: ${problem}`;
    },
    async close() {
      await owned[Symbol.asyncDispose]();
      return [...markers].flatMap((marker) => processesMarked(marker)).length;
    },
  };
}

async function playOne(
  rookery: Rookery,
  options: OpenSessionOptions,
  markers: Set<string>,
): Promise<string | undefined> {
  const opening = rookery.openSession({ agent: "it", ...options });
  const settled = opening.then(
    () => undefined,
    () => undefined,
  );
  if (!(await settlesWithin(START_MS, settled))) {
    void opening.then((late) => late[Symbol.asyncDispose]()).catch(() => undefined); // closing Rookery ends the start
    return undefined;
  }
  let session: Session;
  try {
    session = await opening;
  } catch (error) {
    return isRookeryError(error) && START_ERRORS.test(error.code) ? undefined : String(error); // it did not start
  }
  try {
    const first = session.prompt("Go");
    if (!(await settles(rookery, session, first, markers))) return "the first turn never ended";
    await session.change({ agent: "healthy" });
    const outcome = await session.prompt("Are you well?").outcome;
    return outcome.status === "done" ? undefined : `the next turn ended ${JSON.stringify(outcome)}`;
  } finally {
    await session[Symbol.asyncDispose]();
  }
}

/** Answers requests, and cancels after silence. Returns false if the turn does not end even then. */
async function settles(rookery: Rookery, session: Session, turn: Turn, markers: Set<string>): Promise<boolean> {
  let silent: NodeJS.Timeout | undefined;
  const listen = () => {
    clearTimeout(silent);
    silent = setTimeout(() => void session.cancel().catch(() => undefined), SILENCE_MS);
  };
  const answer = async (id: string, given: Parameters<Rookery["answer"]>[2]) =>
    rookery.answer(session.id, id, given).catch(() => undefined); // the request was withdrawn
  const reading = (async () => {
    listen();
    for await (const event of turn) {
      listen();
      if (event.type === "process.started") markers.add(event.marker);
      if (event.type === "permission.requested") await answer(event.requestId, { decision: "allow" });
      if (event.type === "question.asked") await answer(event.requestId, { action: "decline" });
    }
    return true;
  })();
  let hang: NodeJS.Timeout | undefined;
  const hangs = new Promise<false>((resolve) => (hang = setTimeout(resolve, HANG_MS, false)));
  try {
    return await Promise.race([reading, hangs]);
  } finally {
    clearTimeout(silent);
    clearTimeout(hang);
  }
}

/** Changes one to three lines of the program's output. */
function mutateRecording(random: Random, lines: readonly string[]): string[] {
  const said = lines.flatMap((line, index) => (isSaid(line) ? [index] : []));
  const chosen = new Set(Array.from({ length: 1 + random.below(3) }, () => said[random.below(said.length)]));
  return lines.map((line, index) => {
    if (!chosen.has(index)) return line;
    const step = JSON.parse(line) as Step;
    return JSON.stringify({ ...step, line: mutateLine(random, step.line ?? "") });
  });
}

function isSaid(line: string): boolean {
  return (JSON.parse(line) as Step).dir === "out";
}

async function readRecordings(program: string): Promise<{ name: string; lines: string[] }[]> {
  const folder = join(RECORDED, program);
  const names = (await readdir(folder)).filter((name) => PLAYED.includes(name.replace(".ndjson", "")));
  return Promise.all(
    names.map(async (name) => ({
      name,
      lines: (await readFile(join(folder, name), "utf8")).split("\n").filter((line) => line !== ""),
    })),
  );
}
