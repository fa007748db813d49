/** A bare repository that plays the remote of several hosts in tests. */
import { join } from "node:path";
import { DisposeStack } from "../../stdx/index.ts";
import { temporaryFolder, temporaryRepository, type TemporaryRepository } from "../../testing/repository.ts";
import { testGitOptions } from "../test-scene.ts";
import { openMirror, type Mirror, type MirrorOptions } from "./mirror.ts";

const IDENTITY = {
  GIT_AUTHOR_NAME: "Rookery Test",
  GIT_AUTHOR_EMAIL: "test@rookery.invalid",
  GIT_COMMITTER_NAME: "Rookery Test",
  GIT_COMMITTER_EMAIL: "test@rookery.invalid",
};

export interface TestHost {
  readonly root: string;
  readonly notices: string[];
  open(options?: Partial<MirrorOptions>): Promise<Mirror>;
}

export interface RemoteScene extends AsyncDisposable {
  /** A clone of a person, with the remote as `origin`. */
  readonly user: TemporaryRepository;
  /** The path of the bare repository. */
  readonly remote: string;
  /** Runs git in the bare repository. */
  remoteGit(...args: string[]): Promise<string>;
  /** A host with its own folder for mirrors. */
  host(name: string): TestHost;
}

export async function openRemoteScene(
  files: Readonly<Record<string, string>> = { "a.txt": "one\n" },
): Promise<RemoteScene> {
  const owned = new DisposeStack();
  const folder = owned.use(await temporaryFolder());
  const user = owned.use(await temporaryRepository(files));
  const remote = join(folder.path, "project.git");
  await user.git("clone", "--quiet", "--bare", user.path, remote);
  await user.git("remote", "add", "origin", remote);
  await user.git("fetch", "--quiet", "origin");
  return {
    user,
    remote,
    remoteGit: (...args) => user.git(`--git-dir=${remote}`, ...args),
    host(name) {
      const root = join(folder.path, name);
      const notices: string[] = [];
      const git = testGitOptions(folder.path, IDENTITY);
      const onNotice = (message: string) => void notices.push(message);
      return { root, notices, open: (options = {}) => openMirror({ root, url: remote, git, onNotice, ...options }) };
    },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}
