/**
 * Parses Markdown in bounded time and depth. The parser takes quadratic time for a long paragraph and a level of the
 * stack for each level of nesting, and an agent can write any text.
 */
import { Lexer, Tokenizer, type Token, type Tokens, type TokensList } from "marked";

/** The text of a longer paragraph is not parsed: it is shown as its source. */
const MAX_INLINE_LENGTH = 4_000;
/** Deeper content is shown as its source. */
const MAX_DEPTH = 12;
/** A larger table is shown as its source. Each row gets as many cells as the header has, even if its line is short. */
const MAX_CELLS = 10_000;

export function parseBlocks(source: string): Token[] {
  return new BoundedLexer({ gfm: true, tokenizer: new BoundedTokenizer() }).lex(source);
}

class BoundedTokenizer extends Tokenizer {
  override table(source: string): Tokens.Table | undefined {
    const [table, header = ""] = this.rules.block.table.exec(source) ?? [];
    if (table === undefined) return undefined;
    const cells = header.split("|").length * table.split("\n").length;
    if (cells <= MAX_CELLS) return super.table(source);
    return { type: "html", raw: table, text: table } as unknown as Tokens.Table;
  }
}

class BoundedLexer extends Lexer {
  #depth = 0;

  override blockTokens(source: string, tokens?: Token[], isClipped?: boolean): Token[];
  override blockTokens(source: string, tokens?: TokensList, isClipped?: boolean): TokensList;
  override blockTokens(source: string, tokens: Token[] = [], isClipped?: boolean): Token[] {
    return this.#nest(source, tokens, () => super.blockTokens(source, tokens, isClipped));
  }

  override inlineTokens(source: string, tokens: Token[] = []): Token[] {
    if (source.length > MAX_INLINE_LENGTH) return addSource(tokens, source);
    return this.#nest(source, tokens, () => super.inlineTokens(source, tokens));
  }

  #nest(source: string, tokens: Token[], parse: () => Token[]): Token[] {
    if (this.#depth >= MAX_DEPTH) return addSource(tokens, source);
    this.#depth += 1;
    try {
      return parse();
    } finally {
      this.#depth -= 1;
    }
  }
}

function addSource(tokens: Token[], source: string): Token[] {
  tokens.push({ type: "text", raw: source, text: source, escaped: false });
  return tokens;
}
