import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  builtEnvironment,
  call,
  say,
  startModelServer,
  temporaryFolder,
  type Script,
  type TemporaryFolder,
} from "../src/testing/index.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const TSC = join(ROOT, "node_modules", "typescript", "bin", "tsc");
/** The types that every Node project has. */
const NODE_TYPES = { typeRoots: [join(ROOT, "node_modules", "@types")], types: ["node"] };
const SECONDS = 1_000;
/** An installation takes 30 s and downloads dependencies that are not in npm's cache. */
const IS_SLOW_RUN = process.env["ROOKERY_SLOW"] === "1";

const IMPORTER = `
import { Rookery, SessionEvent, type EventOf, type Session } from "rookery";
import { connectClient, startAgent, type ClientSession } from "rookery/acp";
import { say, startModelServer, storeContract } from "rookery/testing";
export async function ask(command: string[], cwd: string): Promise<string> {
  const agent = await startAgent({ command, cwd, env: {} });
  const client = await connectClient({ transport: agent.transport, exit: () => agent.exit() });
  const session: ClientSession = await client.session(cwd).create();
  return session.prompt("go").readText();
}
export async function main(): Promise<string> {
  const model = await startModelServer([say("hi")]);
  const rookery: Rookery = await Rookery.open({ home: "x" });
  const session: Session = await rookery.openSession({ permissions: "all", baseUrl: model.url, apiKey: "fake" });
  for await (const event of session.prompt("go")) {
    const parsed: SessionEvent = SessionEvent.parse(event);
    if (parsed.type === "turn.ended") return parsed.outcome.status;
    // @ts-expect-error the union is closed
    if (parsed.type === "turn.paused") return "";
  }
  const ended: EventOf<"turn.ended">["outcome"]["status"] = "done";
  return ended + String(storeContract.length);
}
`;

/** Does the same as the command, with the library. */
const LIBRARY = `
import { Rookery } from "rookery";
import { collect } from "rookery/testing";
const rookery = await Rookery.open();
const events = await collect((await rookery.openSession()).prompt("go"));
console.log(events.flatMap((event) => (event.type === "message.completed" ? [event.text] : [])).join("\\n"));
await rookery.close();
`;

let folder: TemporaryFolder;
let files: string[];
let tarball: string;
const run = promisify(execFile);
const inside = () => ({
  cwd: join(folder.path, "importer"),
  env: { ...builtEnvironment({ home: folder.path }), npm_config_yes: "true" },
  timeout: 240 * SECONDS,
});

beforeAll(async () => {
  folder = await temporaryFolder();
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder.path];
  const { stdout } = await run("npm", args, { cwd: ROOT, maxBuffer: 16 * 1024 * 1024 });
  const [packed] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  files = packed.files.map(({ path }) => path);
  tarball = packed.filename;
}, 60 * SECONDS);
afterAll(() => folder[Symbol.asyncDispose]());

it("contains only the build and the documents, without sources, tests or benchmarks", () => {
  const code = /^dist\/.+\.(js|cjs|d\.ts|txt)$/;
  const page =
    /^dist\/web\/(index\.html|icon[^/]*\.(svg|png)|manifest\.webmanifest|assets\/[^/]+\.(js|css)|\.vite\/manifest\.json)$/;
  const documents = /^(package\.json|README\.md|CHANGELOG\.md|LICENSE)$/;
  const other = files.filter((path) => ![code, page, documents].some((pattern) => pattern.test(path)));
  expect(other).toEqual([]);
  expect(files.filter((path) => /\.test\.|^(src|bench|examples|scripts|test)\//.test(path))).toEqual([]);
  expect(files).toContain("dist/cli/main.cjs");
  expect(files).toContain("dist/web/.vite/manifest.json"); // the server finds the page by it
});

describe.runIf(IS_SLOW_RUN)("an installation of the package", () => {
  beforeAll(async () => {
    await mkdir(inside().cwd);
    await writeFile(join(inside().cwd, "package.json"), JSON.stringify({ type: "module", private: true }));
    const install = ["install", "--no-audit", "--no-fund", "--prefer-offline", join(folder.path, tarball)];
    const { stderr } = await run("npm", install, inside());
    expect(stderr).not.toContain("EBADENGINE");
  }, 300 * SECONDS);

  it("runs npx rookery demo in an empty folder", { timeout: 120 * SECONDS }, async () => {
    const { stdout } = await run("npx", ["rookery", "demo"], inside());
    expect(stdout).toContain("scripted");
    expect(stdout).toContain("The test passes");
  });

  it(
    "runs a program of the model in its worker thread, from the command and from the library",
    async () => {
      const code = `const { text } = await tools.list({}); 6 * 7 + text.length * 0`;
      const script: Script = ({ toolResults: [told] }) =>
        told === undefined ? call("code", { code }) : say(`Got: ${told.content}`);
      await using model = await startModelServer(script);
      const { cwd, env } = inside();
      const around = { cwd, env: { ...env, ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "fake" } };
      await mkdir(join(folder.path, ".config", "rookery"), { recursive: true });
      await writeFile(join(folder.path, ".config", "rookery", "rookery.toml"), "[agents.anthropic]\ncode = true\n");
      await writeFile(join(cwd, "library.js"), LIBRARY);
      expect((await run("npx", ["rookery", "run", "go"], around)).stdout).toContain("Got: => 42");
      expect((await run(process.execPath, ["library.js"], around)).stdout).toContain("Got: => 42");
    },
    120 * SECONDS,
  );

  it.each([
    ["node16", "node16"],
    ["esnext", "bundler"],
  ])(
    "provides types to an importer with module %s and moduleResolution %s",
    { timeout: 120 * SECONDS },
    async (module, moduleResolution) => {
      const { cwd } = inside();
      await writeFile(join(cwd, "importer.ts"), IMPORTER);
      const options = {
        module,
        moduleResolution,
        target: "es2022",
        lib: ["es2023", "esnext.disposable"],
        strict: true,
      };
      const compilerOptions = { ...options, noEmit: true, skipLibCheck: false, ...NODE_TYPES };
      await writeFile(join(cwd, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["importer.ts"] }));
      const { stdout } = await run(process.execPath, [TSC, "-p", "tsconfig.json"], inside()).catch(
        (error: unknown) => error as { stdout: string },
      );
      expect(stdout).toBe("");
    },
  );
});
