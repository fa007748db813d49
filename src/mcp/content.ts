/** What prompts and resources hold. */

export type McpPart =
  | { readonly type: "text"; readonly text: string; readonly uri?: string | undefined }
  | {
      readonly type: "bytes";
      readonly bytes: Uint8Array;
      readonly mediaType: string;
      readonly uri?: string | undefined;
    };
