/** Prepares the line editor of a chat: what Tab completes, and the prompts of earlier chats in the directory. */
import { createCompletion } from "./completion.ts";
import { FileList } from "./files.ts";
import { PromptHistory } from "./history.ts";
import type { ChatHost } from "../host.ts";
import { listCompletions } from "../slash-commands.ts";

/** Resolves with the history, to which the chat adds each prompt. `home`: the directory of Rookery. */
export async function prepareEditor(chat: ChatHost, home: string): Promise<PromptHistory> {
  const { editor } = chat.surface;
  const files = new FileList(chat.cwd, chat.io.env);
  editor.setCompletion(
    createCompletion({
      commands: () => listCompletions(chat),
      files: () => files.list(),
      filesIn: (folder) => files.listFolder(folder),
      columns: () => chat.surface.size.columns,
    }),
  );
  const history = new PromptHistory(home, chat.cwd);
  for (const prompt of await history.load()) editor.addToHistory(prompt);
  return history;
}
