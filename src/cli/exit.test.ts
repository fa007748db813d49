import { expect, it } from "vitest";
import { RookeryError } from "../domain/errors.ts";
import { formatError } from "./exit.ts";

it("formats the first of several errors, whose own message is often empty", () => {
  const refused = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:1"), { code: "ECONNREFUSED" });
  expect(formatError(new AggregateError([refused, new Error("second")]))).toBe(
    "unexpected error: connect ECONNREFUSED 127.0.0.1:1; set ROOKERY_DEBUG=1 to print the stack trace",
  );
  const away = new RookeryError("store_unavailable", "the database is away");
  expect(formatError(new AggregateError([away], "several sessions failed to close"))).toBe("the database is away");
});

it("formats the failure, not the errors of closing resources after it", () => {
  const lost = new RookeryError("lease_lost", "the lease could not be renewed in time");
  const after = Object.assign(new Error(""), { name: "SuppressedError", error: new Error("away"), suppressed: lost });
  expect(formatError(after)).toBe("the lease could not be renewed in time");
});
