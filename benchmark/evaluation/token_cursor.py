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

    def at_end(self) -> bool:
        """Say whether no token is left."""
        return self.position >= len(self.tokens)

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

    def group_text(self) -> str:
        """Take a group in braces, or one token, and return its text without blanks and braces."""
        if self.peek() == "{":
            return "".join(token.text.replace(" ", "") for token in self.group_tokens() if token.text not in "{}")
        self.position += 1
        return self.tokens[self.position - 1].text if self.position <= len(self.tokens) else ""

    def subscript(self) -> str:
        """Take a subscript, if one is next, and return it as a part of a name."""
        return "_" + self.group_text() if self.accept("_") else ""

    def primes(self) -> int:
        """Take the primes that are next and return how many there are."""
        count = 0
        while True:
            if self.accept("'"):
                count += 1
            elif self.peek() == "^" and self.peek(1) == "\\prime":
                self.position += 2
                count += 1
            elif (marks := self._primes_in_braces()) > 0:
                self.position += marks + 3
                count += marks
            else:
                return count

    def _primes_in_braces(self) -> int:
        if self.peek() != "^" or self.peek(1) != "{":
            return 0
        count = 0
        while self.peek(2 + count) == "\\prime":
            count += 1
        return count if self.peek(2 + count) == "}" else 0
