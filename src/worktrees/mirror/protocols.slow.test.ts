import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer, type AddressInfo, type Server } from "node:net";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { leaseWorktree } from "../lease.ts";
import { expectRejection, testGitOptions } from "../test-scene.ts";
import type { MirrorOptions } from "./mirror.ts";
import { openRemoteScene, type RemoteScene } from "./test-remote.ts";
import { WorkInProgress, claimWorkInProgress } from "./work-in-progress.ts";

const TASK = { id: "t1", createdAt: "2026-01-01T00:00:00.000Z" };
const IDENTITY = "[user]\n\tname = Rookery Test\n\temail = test@rookery.invalid\n";

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** The git options of a user with this global configuration. */
async function userOptions(scene: RemoteScene, config: string): Promise<Pick<MirrorOptions, "git">> {
  const file = join(dirname(scene.remote), "gitconfig");
  await writeFile(file, `${IDENTITY}${config}`);
  return { git: testGitOptions(dirname(scene.remote), { GIT_CONFIG_GLOBAL: file }) };
}

/** Fetches, pushes, and fetches on another host. */
async function useRemote(scene: RemoteScene, options: Partial<MirrorOptions>): Promise<void> {
  const a = await scene.host("a").open(options);
  const worktree = await leaseWorktree(a.repository, { id: "t1", branch: "rookery/t1", base: "origin/main" });
  await writeFile(join(worktree.path, "b.txt"), "b\n");
  expect(await new WorkInProgress(a, TASK).save(worktree, { message: "Work" })).toMatchObject({ status: "saved" });
  const b = await scene.host("b").open(options);
  const snapshot = await claimWorkInProgress(b, TASK, { message: "Taken over" });
  expect(await b.repository.git(["show", `${snapshot ?? ""}:b.txt`])).toBe("b");
}

it("uses a remote over the git protocol", async () => {
  await using scene = await openRemoteScene();
  const args = ["daemon", "--inetd", "--export-all", "--enable=receive-pack", `--base-path=${dirname(scene.remote)}`];
  const server = createServer((socket) => {
    const daemon = spawn("git", args, { stdio: ["pipe", "pipe", "ignore"] });
    socket.pipe(daemon.stdin);
    daemon.stdout.pipe(socket);
    socket.on("error", () => daemon.kill());
    daemon.stdin.on("error", () => undefined);
  });
  const port = await listen(server);
  await useRemote(scene, { url: `git://127.0.0.1:${port}/project.git`, ...(await userOptions(scene, "")) });
  server.close();
});

it("uses a remote over ssh, with the ssh command of the user", async () => {
  await using scene = await openRemoteScene();
  const ssh = join(dirname(scene.remote), "ssh");
  const called = `${ssh}.called`;
  await writeFile(ssh, `#!/bin/sh\necho "$@" >> '${called}'\nwhile [ $# -gt 1 ]; do shift; done\nexec sh -c "$1"\n`, {
    mode: 0o755,
  });
  const options = await userOptions(scene, `[core]\n\tsshCommand = ${ssh}\n[ssh]\n\tvariant = simple\n`);
  await useRemote(scene, { url: `git@example.invalid:${scene.remote}`, ...options });
  expect(await readFile(called, "utf8")).toContain("git@example.invalid");
});

/** Serves the folder of the remote with `git http-backend` to one user. */
function serveHttp(scene: RemoteScene) {
  return createHttpServer((request: IncomingMessage, response: ServerResponse) => {
    const expected = `Basic ${Buffer.from("robin:secret-password").toString("base64")}`;
    if (request.headers.authorization !== expected) {
      response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end();
      return;
    }
    const [path = "", query = ""] = (request.url ?? "").split("?");
    const env = {
      PATH: process.env["PATH"] ?? "",
      GIT_PROJECT_ROOT: dirname(scene.remote),
      GIT_HTTP_EXPORT_ALL: "1",
      REMOTE_USER: "robin",
      PATH_INFO: path,
      QUERY_STRING: query,
      REQUEST_METHOD: request.method ?? "GET",
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      HTTP_GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
    };
    const backend = spawn("git", ["http-backend"], { env, stdio: ["pipe", "pipe", "ignore"] });
    request.pipe(backend.stdin);
    const chunks: Buffer[] = [];
    backend.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    backend.on("close", () => {
      const answer = Buffer.concat(chunks);
      const end = answer.indexOf("\r\n\r\n");
      const lines = answer.subarray(0, end).toString().split("\r\n");
      const headers = lines.map((line) => line.split(": ") as [string, string]);
      const status = headers.find(([name]) => name === "Status")?.[1] ?? "200";
      response.writeHead(Number.parseInt(status, 10), headers.filter(([name]) => name !== "Status").flat());
      response.end(answer.subarray(end + 4));
    });
  });
}

it("uses a remote over HTTP with the credential helper of the user, and shows no password", async () => {
  await using scene = await openRemoteScene();
  await scene.remoteGit("config", "http.receivepack", "true");
  const server = serveHttp(scene);
  const port = await listen(server);
  const url = `http://robin:secret-password@127.0.0.1:${port}/project.git`;
  const helper = `!f() { echo username=robin; echo password=secret-password; }; f`;
  const refused = scene.host("c").open({ url, ...(await userOptions(scene, "")) });
  await expectRejection(refused, "remote_unreachable", /^(?!.*secret).*127\.0\.0\.1/); // the URL's own credentials are not used
  await useRemote(scene, { url, ...(await userOptions(scene, `[credential]\n\thelper = "${helper}"\n`)) });
  server.close();
});
