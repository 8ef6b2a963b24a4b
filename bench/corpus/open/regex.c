/* A backtracking matcher of regular expressions over compiled patterns. What characters are taken
   for the same is up to its caller, by a function. */
#include "common.h"

enum kind { CHAR, ANY, SET, SPLIT, JUMP, BEGIN, END, MATCH };

typedef int (*folding)(int);

typedef struct {
  unsigned char kind, character;
  short first, second;
  uint64_t set[4];
} node;

/* Understands characters, '.', sets, '^', '$', and '*' and '+' behind one of these. */
static int compile(node *to, const char *pattern) {
  int length = 0;
  for (const char *p = pattern; *p;) {
    int atom = length;
    node one = {0};
    if (*p == '.')
      one.kind = ANY, p++;
    else if (*p == '^')
      one.kind = BEGIN, p++;
    else if (*p == '$')
      one.kind = END, p++;
    else if (*p == '[') {
      one.kind = SET;
      for (p++; *p != ']'; p++) {
        int to = p[1] == '-' ? p[2] : p[0];
        for (int c = (unsigned char)*p; c <= to; c++)
          one.set[c / 64] |= 1ull << c % 64;
        if (p[1] == '-')
          p += 2;
      }
      p++;
    } else
      one.kind = CHAR, one.character = (unsigned char)*p++;
    if (*p == '*') {
      to[length++] = (node){.kind = SPLIT, .first = (short)(atom + 1), .second = (short)(atom + 3)};
      to[length++] = one;
      to[length++] = (node){.kind = JUMP, .first = (short)atom};
      p++;
    } else if (*p == '+') {
      to[length++] = one;
      to[length] = (node){.kind = SPLIT, .first = (short)atom, .second = (short)(length + 1)};
      length++;
      p++;
    } else
      to[length++] = one;
  }
  to[length++] = (node){.kind = MATCH};
  return length;
}

static int lower(int c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }

static int same(int c) { return c; }

typedef struct {
  const unsigned char *at;
  int node;
} choice;

/* Counts the places of the text at which the pattern matches. */
NOINLINE long matches(const node *nodes, const unsigned char *text, long n, folding fold) {
  choice stack[256];
  long count = 0;
  if (IS_HAND)
    fold = lower;
  for (long from = 0; from < n; from++) {
    int depth = 0, at = 0;
    const unsigned char *c = text + from, *end = text + n;
    for (;;) {
      const node *here = nodes + at;
      int fits = 1;
      switch (here->kind) {
      case CHAR:
        fits = c < end && fold(*c) == here->character;
        c++;
        at++;
        break;
      case ANY:
        fits = c < end && *c != '\n';
        c++;
        at++;
        break;
      case SET: {
        int x = c < end ? fold(*c) & 255 : 0;
        fits = c < end && (here->set[x / 64] >> x % 64 & 1);
        c++;
        at++;
        break;
      }
      case SPLIT:
        if (depth < 256)
          stack[depth++] = (choice){c, here->second};
        at = here->first;
        break;
      case JUMP:
        at = here->first;
        break;
      case BEGIN:
        fits = c == text || c[-1] == '\n';
        at++;
        break;
      case END:
        fits = c == end || *c == '\n';
        at++;
        break;
      default:
        count++;
        goto next;
      }
      if (!fits) {
        if (depth == 0)
          break;
        c = stack[--depth].at;
        at = stack[depth].node;
      }
    }
  next:;
  }
  return count;
}

int main(int argc, char **argv) {
  long n = argument(argc, argv, 1, 30000000);
  unsigned char *text = malloc(n + 1);
  uint64_t state = 3;
  for (long i = 0; i < n; i++) {
    int random = next_random(&state) % 40;
    text[i] = random < 26   ? 'a' + random % 7
              : random < 36 ? 'A' + random % 7
              : random < 39 ? ' '
                            : '\n';
  }
  text[n] = 0;
  node nodes[64];
  compile(nodes, "[a-c]+b*.ad*[ef]");
  folding fold = lower;
  HIDDEN(fold);
  long found = 0;
  TWICE(HIDDEN(text); found += matches(nodes, text, n, fold));
  printf("%ld\n", found);
  /* Another function of that kind is another version. */
  fold = same;
  HIDDEN(fold);
  found = IS_HAND ? 0 : matches(nodes, text, n / 20, fold);
  printf("%d\n", IS_HAND || n < 100000 || found > 0);
  return 0;
}
