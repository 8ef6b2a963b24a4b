-- Random expressions, compiled and run on numbers whose operators are metamethods, so that each
-- level is a call.
local n = tonumber(argument)
local state = 20161
local function draw(limit) state = state * 16807 % 2147483647 return state % limit end
local number = {}
local function of(v) return setmetatable({ v = v % 1000003 }, number) end
local function value(a) return type(a) == "table" and a.v or a end
number.__add = function(a, b) return of(value(a) + value(b)) end
number.__sub = function(a, b) return of(value(a) - value(b)) end
number.__mul = function(a, b) return of(value(a) * value(b)) end
number.__unm = function(a) return of(-value(a)) end
number.__index = function(a, key) return function(...) return a + #key end end
local function make(depth)
  local kind = depth == 0 and 0 or draw(10)
  local function one() return make(depth - 1) end
  if kind == 0 then return tostring(draw(100)) end
  if kind == 1 then return "x" end
  if kind == 2 then return "(" .. one() .. " + " .. one() .. ")" end
  if kind == 3 then return "(" .. one() .. " * " .. one() .. ")" end
  if kind == 4 then return "- " .. one() end
  if kind == 5 then return "select(2, pcall(function() return " .. one() .. " - x end))" end
  if kind == 6 then return "least(function() return " .. one() .. " end, " .. one() .. ")" end
  if kind == 7 then return "(" .. one() .. " or " .. one() .. ")" end
  if kind == 8 then return "map(function(x) return " .. one() .. " end, " .. one() .. ")" end
  return "(" .. one() .. " - " .. one() .. ")"
end
function least(f, b)
  local list = { b, f(), 7 }
  table.sort(list, function(p, q) return value(p + f()) < value(q + f()) end)
  return list[1]
end
function map(f, b) return of(tonumber((string.gsub("12", "%d", function(d) return value(f(of(d + value(b)))) % 10 end)))) end
local sum, length = 0, 0
for i = 1, n do
  local text = make(7)
  local run = assert(load("local x = ... return x + " .. text))
  for x = 1, 2 do
    local good, result = pcall(run, of(x))
    sum = (sum * 31 + (good and value(result) or 1)) % 1000003
  end
  length = length + #text
end
print(n, sum, length)
