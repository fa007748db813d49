/** `rookery demo`: runs one turn without an API key. The model is scripted; the agent, its tools and the log are real. */
import { shortId } from "../../domain/ids.ts";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { Rookery } from "../../rookery.ts";
import { DisposeStack } from "../../stdx/dispose-stack.ts";
import { temporaryRepository } from "../../testing/repository.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit.ts";
import { type Io, printNotice, printText } from "../io.ts";
import { isSet } from "../options.ts";
import { driveSession } from "../run/drive.ts";
import { DEMO_FILES, DEMO_MODEL, DEMO_PROMPT } from "../../demo/index.ts";

export async function demoCommand({ io, options }: CommandCall): Promise<ExitCode> {
  const json = isSet(options, "json");
  const tell = (text: string) => (json ? Promise.resolve() : printText(io, `${text}\n`));
  await using owned = new DisposeStack();
  const repository = await temporaryRepository(DEMO_FILES);
  if (!isSet(options, "keep")) owned.use(repository);
  await tell(`This is a demo: the model is scripted; the agent, its tools and the log are real.`);
  await tell(`Temporary repository with a failing test: ${repository.path}\n\n> ${DEMO_PROMPT}\n`);

  // The user's configuration may change any agent, so the demo ignores it.
  const env = { ...io.env, XDG_CONFIG_HOME: join(repository.path, ".git", "no-configuration") };
  const rookery = owned.use(await Rookery.open({ env, cwd: repository.path }));
  const session = await rookery.openSession({
    agent: "anthropic",
    model: DEMO_MODEL,
    permissions: "all",
    title: "rookery demo (scripted model)",
  });
  const { store } = rookery;
  const code = await driveSession({
    io,
    store,
    session,
    prompt: DEMO_PROMPT,
    json,
    atTerminal: false,
    attended: true,
    after: 0,
  });
  if (code !== EXIT.done) return code;

  const passes = await testPasses(repository.path, io);
  await tell(`\nThe test ${passes ? "passes" : "still fails"}, checked with: node --test`);
  if (isSet(options, "keep")) await tell(`The repository is kept: ${repository.path}`);
  await tell(`Everything that happened is in the log: rookery sessions events ${shortId(session.id)}`);
  if (!passes) printNotice(io, "the demo did not fix its test; please report this with the events of the session");
  return passes ? EXIT.done : EXIT.failed;
}

async function testPasses(cwd: string, { env }: Io): Promise<boolean> {
  return promisify(execFile)(process.execPath, ["--test"], { cwd, env: { PATH: env["PATH"] }, timeout: 60_000 }).then(
    () => true,
    () => false,
  );
}
