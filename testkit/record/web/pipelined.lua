-- Each turn is three requests at once; a connection's 30th answer is the last.
local answers = 0

function init(args)
   local paths = { "/small.txt", "/nothing-here", "/data.json" }
   local requests = {}
   for nth, path in ipairs(paths) do
      requests[nth] = wrk.format("GET", path .. "?turn=" .. nth)
   end
   turn = table.concat(requests)
end

function request()
   return turn
end

function response()
   answers = answers + 1
   if answers == 30 then
      wrk.thread:stop()
   end
end
