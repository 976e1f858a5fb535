"""A place in a list of tokens, and the steps that a reader takes from there."""

from collections.abc import Sequence

from benchmark.evaluation.latex_tokens import Kind, Token, UnreadableError


class TokenCursor:
    """Tokens and the position of the next one; at the end the next text is empty and its kind None."""

    def __init__(self, tokens: Sequence[Token]):
        self.tokens = list(tokens)
        self.position = 0

    def peek(self, ahead: int = 0) -> str:
        """Return the text of the next token, or of one further ahead."""
        place = self.position + ahead
        return self.tokens[place].text if place < len(self.tokens) else ""

    def kind(self, ahead: int = 0) -> Kind | None:
        """Return the kind of the next token, or of one further ahead."""
        place = self.position + ahead
        return self.tokens[place].kind if place < len(self.tokens) else None

    def accept(self, *texts: str) -> str:
        """Take the next token if it is one of these; returns its text, else an empty one."""
        found = self.peek()
        if found and found in texts and self.kind() is not Kind.TEXT:
            self.position += 1
            return found
        return ""

    def expect(self, text: str) -> None:
        """Take this token; raises UnreadableError where another is next."""
        if not self.accept(text):
            raise UnreadableError(f"found {self.peek()!r} instead of {text!r}")

    def group_tokens(self, opening: str = "{", closing: str = "}") -> list[Token]:
        """Take a bracketed group whole and return it without its brackets; raises UnreadableError."""
        self.expect(opening)
        start, depth = self.position, 1
        while depth:
            if self.position >= len(self.tokens):
                raise UnreadableError("a group does not end")
            depth += (self.peek() == opening) - (self.peek() == closing)
            self.position += 1
        return self.tokens[start : self.position - 1]
