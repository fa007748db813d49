// Adds a tool and an instruction to one session, and checks every call with a plugin. Usage: tools.mjs PROMPT
import { Rookery } from "rookery";

/** A source of one tool. Its list is the same array as long as nothing changed. */
const tools = [
  {
    name: "deploy_status",
    description: "Says whether the last deployment went well.",
    inputSchema: { type: "object", properties: { stage: { type: "string" } }, required: ["stage"] },
    kind: "read",
    readOnly: true, // needs no permission, and may run again after a crash
  },
];
const deployments = {
  id: "deployments",
  list: () => tools,
  describe: ({ input }) => ({ title: `Deployment of ${input.stage}` }),
  call: async ({ input }) => ({ outcome: "ok", text: `${input.stage}: deployed, all checks green` }),
};

/** Sees every call and saves its count with the session. */
function guard() {
  let refused = 0;
  return {
    id: "guard",
    version: "1",
    beforeCall: ({ call }) => {
      if (call.name !== "bash" || !/\bgit\s+push\b/.test(call.input.command ?? "")) return undefined;
      refused += 1;
      return { refuse: "pushing is for people; say what you would push" };
    },
    save: () => ({ refused }),
    restore: (state) => void ({ refused } = state),
  };
}

const rookery = await Rookery.open({ plugins: [guard] });
const session = await rookery.openSession({ permissions: "all" });
session.setOverlay({
  sources: [deployments],
  contributions: [
    {
      slot: "guidance",
      title: "Deployments",
      content: "Look at the deployment before you change anything.",
      tools: ["deploy_status"], // only while the tool exists
    },
  ],
  base: true, // keep the agent's own tools
});

for await (const event of session.prompt(process.argv[2] ?? "How is staging?")) {
  if (event.type === "tool.ended") console.log(`${event.outcome}: ${event.text}`);
  if (event.type === "message.completed" && event.text !== "") console.log(event.text);
}
await rookery.close();
