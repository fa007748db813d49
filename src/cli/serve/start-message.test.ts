import { expect, it } from "vitest";
import { collectingIo } from "../test-io.ts";
import { formatStartMessage, type ServerInfo } from "./start-message.ts";

const INFO: ServerInfo = {
  url: "http://127.0.0.1:7433",
  page: "https://rookery.example/sign-in?ticket=t",
  log: "/home/me/.local/state/rookery",
  tokenFile: "/home/me/.local/state/rookery/token",
  runsTasks: true,
  token: undefined,
};

function startMessage(info: Partial<ServerInfo>): string {
  return formatStartMessage(Object.assign(collectingIo("/home/me"), { version: "1.2.3" }), { ...INFO, ...info });
}

it("says whether the server runs tasks", () => {
  expect(startMessage({})).toContain("Rookery 1.2.3 is running tasks and serving HTTP:\n");
  expect(startMessage({})).toContain("running tasks continue at the next start.\n");
  const answersOnly = startMessage({ runsTasks: false });
  expect(answersOnly).toContain("Rookery 1.2.3 is serving HTTP, and workers run the tasks:\n");
  expect(answersOnly).not.toContain("running tasks");
});

it("names the database of the log and the sources of the token", () => {
  const message = startMessage({
    log: "the database rookery on db.example:5432, schema rookery",
    tokenFile: undefined,
  });
  expect(message).toMatch(/^ {2}log +the database rookery on db\.example:5432, schema rookery$/m);
  expect(message).toMatch(/^ {2}token +the one from --token or ROOKERY_TOKEN$/m);
});
