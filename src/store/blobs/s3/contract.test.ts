import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Store } from "../../../domain/index.ts";
import { blobCases } from "../../contract/blobs.ts";
import { closingCases } from "../../contract/closing.ts";
import { deleteCases } from "../../contract/deleting.ts";
import { openMemoryStore } from "../../memory.ts";
import { hasTestPostgres, testSchemas } from "../../postgres/fixtures/schemas.ts";
import { openPostgresStore } from "../../postgres/open.ts";
import { databasePaths } from "../../sqlite/fixtures/folder.ts";
import { openSqliteStore } from "../../sqlite/open.ts";
import { startS3TestServer, TEST_CREDENTIALS, type S3TestServer } from "./fixtures/s3-server.ts";
import { connectS3Blobs } from "./open.ts";

const schemas = testSchemas();
const newPath = databasePaths();
let server: S3TestServer;
beforeAll(async () => {
  server = await startS3TestServer();
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => server.objects.clear());

/** Every blob that is not empty goes to S3, and is read from there each time. */
function withTestBlobs(store: Store): Store {
  const limits = { over: 0, cacheBytes: 0 };
  return connectS3Blobs({ url: server.url, ...limits, readCredentials: async () => TEST_CREDENTIALS })(store);
}

describe("the memory store with blobs in S3", () => {
  it.each([...blobCases, ...deleteCases, ...closingCases])("$name", async ({ run }) =>
    run(async () => withTestBlobs(openMemoryStore())),
  );
});

describe("the SQLite store with blobs in S3", () => {
  it.each(blobCases)("$name", async ({ run }) =>
    run(async () => withTestBlobs(await openSqliteStore({ path: newPath() }))),
  );
});

describe.skipIf(!hasTestPostgres)("the PostgreSQL store with blobs in S3", () => {
  it.each(blobCases)("$name", async ({ run }) =>
    run(async () => withTestBlobs(await openPostgresStore(await schemas.emptied()))),
  );
});

it("writes the blobs of the contract to the bucket", async () => {
  await blobCases[0]?.run(async () => withTestBlobs(openMemoryStore()));
  expect(server.objects.size).toBe(2);
  for (const path of server.objects.keys()) expect(path).toMatch(/^\/test-bucket\/team\/sha256\/[0-9a-f]{64}$/);
});
