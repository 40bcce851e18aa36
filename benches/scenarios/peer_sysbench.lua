-- One claim of a batch as the load runner's session makes it: the same statements, the same trips.
--
-- What stands before this file sets LOCK and MARK (text, and the parameters' names in order), GIVEN
-- (the values that never change), SET_UP, BEGIN, COMMIT and ROLLBACK.

local ffi = require("ffi")

-- sysbench 1.0 binds the results of a prepared statement and has no call that fetches them. Its
-- statement holds the client library's own one, which has; the fields before it are sysbench's.
ffi.cdef [[
typedef struct {
   void *connection;
   char *query;
   void *bound_param;
   unsigned int bound_param_len;
   void *bound_res;
   void *bound_res_len;
   char emulated;
   void *native;
} leaseproof_statement;
int mysql_stmt_fetch(void *statement);
]]

local NO_DATA = 100
local LONGEST = 1020 -- 255 characters of four bytes
local TEXT = sysbench.sql.type.VARCHAR

-- The statement, and the parameters that each claim sets, by name.
local function prepare(definition)
   local statement = con:prepare(definition.text)
   local places, changing = {}, {}
   for place, name in ipairs(definition.names) do
      local value = GIVEN[name]
      if value ~= nil then
         places[place] = statement:bind_create(sysbench.sql.type.BIGINT)
         places[place]:set(value)
      else
         places[place] = statement:bind_create(TEXT, LONGEST)
         changing[name] = places[place]
      end
   end
   assert(statement:bind_param(unpack(places)) == 0, "the parameters cannot be bound")
   local handle = ffi.cast("leaseproof_statement *", statement)
   assert(handle.emulated == 0, "the server prepares no such statement")
   -- The places are kept, because the client library reads them at each execution.
   return { statement = statement, places = places, changing = changing, native = handle.native }
end

function thread_init()
   driver = sysbench.sql.driver()
   con = driver:connect()
   for _, text in ipairs(SET_UP) do
      con:query(text)
   end
   lock, mark = prepare(LOCK), prepare(MARK)
   id = { buffer = ffi.new("char[?]", LONGEST), length = ffi.new("unsigned long[1]"), null = ffi.new("char[1]") }
   local bound = ffi.new("sql_bind[1]")
   bound[0].type = TEXT
   bound[0].buffer = id.buffer
   bound[0].data_len = id.length
   bound[0].max_len = LONGEST
   bound[0].is_null = id.null
   assert(ffi.C.db_bind_result(lock.statement, bound, 1) == 0, "the result cannot be bound")
   number = 0
end

function thread_done()
   lock.statement:close()
   mark.statement:close()
   con:disconnect()
end

function event()
   number = number + 1
   local token = string.format("worker-%d-%d", sysbench.tid, number)
   con:query(BEGIN)
   lock.statement:execute()
   local claimed = {}
   local fetched = ffi.C.mysql_stmt_fetch(lock.native)
   while fetched == 0 do
      claimed[#claimed + 1] = ffi.string(id.buffer, id.length[0])
      fetched = ffi.C.mysql_stmt_fetch(lock.native)
   end
   assert(fetched == NO_DATA, "the events cannot be read")
   for _, event_id in ipairs(claimed) do
      mark.changing.event:set(event_id)
      mark.changing.token:set(token)
      mark.statement:execute()
   end
   con:query(COMMIT)
end

-- An error that is to be run again, as the runner's own session meets it.
function sysbench.hooks.before_restart_event()
   con:query(ROLLBACK)
end

function sysbench.hooks.report_cumulative(stat)
   print(string.format("claims=%d seconds=%.6f retries=%d", stat.events, stat.time_interval, stat.errors))
end
