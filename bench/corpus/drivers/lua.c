/* Runs a Lua script: driver.lua SCRIPT ARGUMENT. */
#include "lauxlib.h"
#include "lua.h"
#include "lualib.h"
#include <stdio.h>

int main(int argc, char **argv) {
    if (argc < 2)
        return 2;
    lua_State *state = luaL_newstate();
    luaL_openlibs(state);
    lua_pushstring(state, argc > 2 ? argv[2] : "1");
    lua_setglobal(state, "argument");
    int status = luaL_dofile(state, argv[1]);
    if (status != LUA_OK)
        fprintf(stderr, "lua: %s\n", lua_tostring(state, -1));
    lua_close(state);
    return status != LUA_OK;
}
