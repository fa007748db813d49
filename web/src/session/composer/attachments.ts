/** Files to send with the next prompt. They are stored on the server when they are added. */
import { createSignal, type Accessor } from "solid-js";
import { errorOf, type components, type RookeryClient } from "../../../../src/client/index.ts";

type BlobPart = components["schemas"]["BlobPart"];

export interface Attachment {
  readonly name: string;
  /** Undefined while it is sent, or if that failed. */
  readonly part: BlobPart | undefined;
  readonly problem: string | undefined;
}

/** A file in the log. */
type StoredPart = Omit<BlobPart, "name"> & { readonly name?: string | undefined };

export interface Attachments {
  readonly list: Accessor<readonly Attachment[]>;
  readonly parts: Accessor<readonly BlobPart[]>;
  readonly isUploading: Accessor<boolean>;
  add(files: readonly File[]): void;
  /** Adds files that the server already has. */
  restore(parts: readonly StoredPart[]): void;
  remove(attachment: Attachment): void;
  clear(): void;
}

const MAX_ATTACHMENTS = 50;
const MAX_BYTES = 10 * 1024 * 1024;

export function createAttachments(client: RookeryClient): Attachments {
  const [list, setList] = createSignal<readonly Attachment[]>([]);
  const upload = async (file: File, pending: Attachment): Promise<void> => {
    const done = await storeFile(client, file).then(
      (part): Attachment => ({ ...pending, part }),
      (error: unknown): Attachment => ({ ...pending, problem: (error as Error).message }),
    );
    setList((all) => all.map((each) => (each === pending ? done : each)));
  };
  return {
    list,
    parts: () => list().flatMap(({ part }) => (part === undefined ? [] : [part])),
    isUploading: () => list().some(({ part, problem }) => part === undefined && problem === undefined),
    add(files) {
      for (const file of files.slice(0, MAX_ATTACHMENTS - list().length)) {
        const pending: Attachment = { name: file.name || "pasted file", part: undefined, problem: undefined };
        setList((all) => [...all, pending]);
        void upload(file, pending);
      }
    },
    restore: (parts) => setList((all) => [...all, ...parts.map(toAttachment)]),
    remove: (attachment) => setList((all) => all.filter((each) => each !== attachment)),
    clear: () => setList([]),
  };
}

function toAttachment({ name, ...rest }: StoredPart): Attachment {
  return { name: name ?? "file", part: { ...rest, ...(name !== undefined && { name }) }, problem: undefined };
}

async function storeFile(client: RookeryClient, file: File): Promise<BlobPart> {
  if (file.size > MAX_BYTES) throw new Error("It is larger than 10 MB: put it into the folder of the session");
  const { data, error, response } = await client.POST("/v1/blobs", {
    params: { query: { name: (file.name || "pasted").slice(0, 255) } },
    body: file as unknown as string,
    bodySerializer: (body: unknown) => body as Blob,
    headers: { "content-type": file.type || "application/octet-stream" },
  });
  if (data === undefined) throw errorOf(error, response.status);
  return data;
}
