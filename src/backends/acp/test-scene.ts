/** Test fixture: a user with a scripted ACP agent. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Rookery, type OpenSessionOptions } from "../../rookery.ts";
import { DisposeStack } from "../../stdx/index.ts";
import { openMemoryStore } from "../../store/index.ts";
import {
  builtEnvironment,
  readAcpRecord,
  temporaryFolder,
  writeAcpAgent,
  type AcpScript,
} from "../../testing/index.ts";

/** Configures a scripted ACP agent and opens a Rookery that drives it. */
export async function openScene(script: AcpScript, options: OpenSessionOptions = {}, more = "") {
  const owned = new DisposeStack();
  const home = owned.use(await temporaryFolder());
  const cwd = owned.use(await temporaryFolder());
  const { command, record } = await writeAcpAgent(home.path, script);
  const env = builtEnvironment({ home: home.path });
  const folder = join(env["XDG_CONFIG_HOME"] ?? "", "rookery");
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, "rookery.toml"),
    `[agents.scripted]\nbackend = "acp"\ncommand = ${JSON.stringify(command)}\n${more}`,
  );
  const store = owned.use(openMemoryStore());
  const rookery = owned.use(await Rookery.open({ env, cwd: cwd.path, store }));
  const open = (changes: OpenSessionOptions = {}) => rookery.openSession({ agent: "scripted", ...options, ...changes });
  return {
    rookery,
    cwd: cwd.path,
    open,
    received: async () => readAcpRecord(record),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}
