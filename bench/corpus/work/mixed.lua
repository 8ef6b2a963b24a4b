-- A bit of all that an interpreter does: calls, tables, strings, closures, coroutines, errors.
local n = tonumber(argument)

local function fib(i) if i < 2 then return i end return fib(i - 1) + fib(i - 2) end

local function sieve(limit)
  local composite, count = {}, 0
  for i = 2, limit do
    if not composite[i] then
      count = count + 1
      for j = i * i, limit, i do composite[j] = true end
    end
  end
  return count
end

local function words(limit)
  local seen, list = {}, {}
  local state = 7
  for _ = 1, limit do
    state = (state * 1103515245 + 12345) % 2147483648
    local word = string.format("w%03d", state // 65536 % 500)
    if not seen[word] then list[#list + 1] = word end
    seen[word] = (seen[word] or 0) + 1
  end
  table.sort(list, function(a, b)
    if seen[a] ~= seen[b] then return seen[a] > seen[b] end
    return a < b
  end)
  return list[1] .. " " .. list[#list]
end

local function generated(limit)
  local producer = coroutine.wrap(function()
    for i = 1, limit do coroutine.yield(i) end
  end)
  local sum = 0
  for i in producer do sum = sum + i end
  return sum
end

local function guarded(limit)
  local caught = 0
  for i = 1, limit do
    if not pcall(function() if i % 3 == 0 then error("three") end end) then caught = caught + 1 end
  end
  return caught
end

print("fib", fib(18 + math.floor(math.log(n, 2))))
print("sieve", sieve(20000 * n))
print("words", words(5000 * n))
print("generated", generated(5000 * n))
print("guarded", guarded(5000 * n))
local text = string.rep("the quick brown fox jumps over the lazy dog. ", 100 * n)
print("pattern", select(2, text:gsub("(%w+) (%w+)", "%2 %1")), #text:gsub("[aeiou]", ""))
