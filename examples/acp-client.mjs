// Drives any ACP agent and allows every request: node acp-client.mjs "PROMPT" COMMAND ARGS…
import { connectClient, serveFiles, startAgent } from "rookery/acp";

const [prompt, ...command] = process.argv.slice(2);
const cwd = process.cwd();

const agent = await startAgent({ command, cwd, env: process.env });
const client = await connectClient({
  transport: agent.transport,
  exit: () => agent.exit(),
  serve: {
    ...serveFiles({ roots: [cwd] }),
    permission({ options }) {
      const option = options.find(({ kind }) => kind === "allow_once") ?? options[0];
      return { outcome: { outcome: "selected", optionId: option.optionId } };
    },
  },
});

const session = await client.session(cwd).create();
const turn = session.prompt(prompt);
for await (const item of turn) {
  if (item.kind !== "update") continue;
  const { update } = item;
  if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text") {
    process.stdout.write(update.content.text);
  }
  if (update.sessionUpdate === "tool_call") console.log(`\n[${update.title}]`);
}
console.log(`\n[${await turn.stopReason}]`);

await client.close();
await agent.close();
