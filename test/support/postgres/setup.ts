/** Runs before each test file whose stores are in PostgreSQL. */
import { afterAll } from "vitest";
import { testPostgresUrl } from "../../../src/store/postgres/fixtures/schemas.ts";
import { closeTestStores } from "./schemas.ts";

(globalThis as { rookeryTestPostgres?: string }).rookeryTestPostgres ??= await testPostgresUrl();

afterAll(closeTestStores);
