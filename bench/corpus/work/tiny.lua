-- Little enough that every basic block of the interpreter can be logged.
local function fib(i) if i < 2 then return i end return fib(i - 1) + fib(i - 2) end
local list = {}
for i = 1, 20 do list[i] = (i * 37) % 11 end
table.sort(list)
print(fib(9), table.concat(list, " "))
print(pcall(function() error("caught") end))
local next = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end)
print(next() + next() + next(), ("a-b-c"):gsub("%w", string.upper))
