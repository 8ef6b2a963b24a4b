/* Runs a script of SQL in a database in memory: driver SCRIPT ROWS. In the script `:n` stands for
 * ROWS. */
#include "common.h"
#include "sqlite3.h"

int main(int argc, char **argv) {
    if (argc < 3)
        return 2;
    size_t size;
    char *script = read_file(argv[1], &size);
    sqlite3 *db;
    if (sqlite3_open(":memory:", &db) != SQLITE_OK)
        fail("cannot open a database", argv[1]);
    for (const char *rest = script; *rest;) {
        sqlite3_stmt *statement;
        if (sqlite3_prepare_v2(db, rest, -1, &statement, &rest) != SQLITE_OK)
            fail(sqlite3_errmsg(db), argv[1]);
        if (!statement)
            break; /* only blanks were left */
        int n = sqlite3_bind_parameter_index(statement, ":n");
        if (n > 0)
            sqlite3_bind_int(statement, n, atoi(argv[2]));
        int step;
        while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
            for (int i = 0; i < sqlite3_column_count(statement); i++) {
                const unsigned char *text = sqlite3_column_text(statement, i);
                printf("%s%s", i ? "|" : "", text ? (const char *)text : "NULL");
            }
            putchar('\n');
        }
        if (step != SQLITE_DONE)
            fail(sqlite3_errmsg(db), argv[1]);
        sqlite3_finalize(statement);
    }
    sqlite3_close(db);
    free(script);
    return 0;
}
