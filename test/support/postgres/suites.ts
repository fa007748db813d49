/** The test files that also run with PostgreSQL behind every store. */

export const POSTGRES_SUITES = [
  "src/effects/**/*.test.ts",
  "src/session/**/*.test.ts",
  "src/pool/**/*.test.ts",
  "src/server/**/*.test.ts",
  "src/agent/**/*.test.ts",
  "test/postgres-stores.test.ts",
  "test/kill.test.ts",
  "test/kill-matrix.slow.test.ts",
  "test/fleet/**/*.test.ts",
  "test/matrix/**/*.test.ts",
];

/** What `npm run test:slow` runs of them: kills, takeovers and injected failures. */
export const POSTGRES_SAMPLE = [
  "src/pool/pool.slow.test.ts",
  "src/session/fork.test.ts",
  "test/postgres-stores.test.ts",
  "test/kill.test.ts",
  "test/fleet/fleet.slow.test.ts",
  "test/matrix/faults.test.ts",
  "test/matrix/matrix.slow.test.ts",
];

/** Files of these suites that are about another store, and why. */
export const NOT_ON_POSTGRES: Readonly<Record<string, string>> = {
  "src/session/lease.test.ts": "advances a fake clock past calls of the store, which here wait for a real server",
  "src/session/outage.test.ts": "locks the file and fills its disk",
  "src/session/flood.test.ts": "starts processes that write to the file",
  "src/pool/remote/kill.slow.test.ts":
    "starts a host that opens the file; test/workers.slow.test.ts and test/cluster kill hosts on PostgreSQL",
  "src/server/http/security.test.ts":
    "closes sockets right after a request, which Node.js only answers before the next round trip",
};
