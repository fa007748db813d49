import { expect, it } from "vitest";
import { Findings } from "./findings.ts";
import { reportText } from "./report.ts";

function reportOf(findings: Findings, only: readonly number[]) {
  const results = findings.results(only);
  return { ...findings.identity, results, ok: false };
}

it("prints a table in which nothing of the agent can move the cursor", () => {
  const findings = new Findings();
  findings.recordIdentity({ protocolVersion: 1, agentInfo: { name: "bird\u001b[31m", version: "2" } });
  findings.pass(1);
  findings.fail(2, "a response has\n\u001b[2Jno id");
  findings.notOffered(17);
  findings.fail(24, "it went on");
  expect(reportText(reportOf(findings, [1, 2, 12, 17, 24]))).toBe(
    `bird [31m 2, protocol version 1

 1  M  pass         each line on stdout is one JSON-RPC message in UTF-8
 2  M  fail         ids are echoed exactly, integers and strings
                    a response has [2Jno id
12  M  not seen     no turn update follows a cancelled response
17  C  not offered  session/load replays everything before it is answered
24  A  fail         unknown methods get -32601, errors leave the agent usable, and it exits at the end of stdin
                    it went on

1 passed, 2 failed (1 of them advisory), 1 not offered, 1 not seen
`,
  );
});

it("reports the first failure despite passes, and hides session ids", () => {
  const findings = new Findings();
  findings.hideSessionId("7");
  findings.hideSessionId("0b5c4f9e-1111");
  findings.pass(7);
  findings.fail(7, 'no session "7" and no 0b5c4f9e-1111 in 77');
  findings.fail(7, "later");
  findings.pass(7);
  expect(findings.results([7])[0]).toMatchObject({
    status: "fail",
    detail: 'no session "<session>" and no <session> in 77',
  });
});
