/** Names in documents that are not ours: other programs' commands, options and files. A test removes what nothing uses. */
export const FOREIGN_NAMES: ReadonlySet<string> = new Set([
  "Accept: text/event-stream",
  "GITHUB_TOKEN",
  "NPM_TOKEN",
  "cron",
  "docker run",
  "esnext.disposable",
  "lib",
  "node dist/cli/main.cjs",
  "npm pack",
  "npm unlink -g rookery",
  "rookery.db-shm",
  "server__tool",
  "systemd-run",
]);
