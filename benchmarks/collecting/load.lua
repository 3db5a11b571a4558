-- What `wrk` sends: one batch again and again, with an id of its own each time.
-- Arguments: a file with what comes before the id, one with what comes after it, and milliseconds to wait in between.

local before, after, pause
local threads = 0

function setup(thread)
  thread:set("number", threads)
  threads = threads + 1
end

local function content(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("*a")
  file:close()
  return text
end

function init(args)
  before, after, pause = content(args[1]), content(args[2]), tonumber(args[3])
  math.randomseed(number * 7919 + os.time())
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "text/plain"
end

local function id()
  local bytes = {}
  for i = 1, 16 do bytes[i] = math.random(0, 255) end
  return string.char(unpack(bytes))
end

function request()
  return wrk.format(nil, nil, nil, before .. id() .. after)
end

function delay()
  if pause > 0 then return math.random(0, 2 * pause) end
  return 0
end

function done(summary, latency, requests)
  io.write(string.format(
    '{"requests": %d, "seconds": %f, "refused": %d, "failed": %d, "p50": %f, "p99": %f}\n',
    summary.requests, summary.duration / 1e6, summary.errors.status,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
