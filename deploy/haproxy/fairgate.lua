-- Asks Fairgate about a request. Either the request goes on to the site, with headers about its visitor, or the visitor gets
-- Fairgate's answer. See haproxy.cfg beside this file.

local URL = "http://" .. os.getenv("FAIRGATE") .. "/.fairgate/auth/haproxy"
local IS_OPEN = os.getenv("FAIRGATE_AWAY") == "open"
local TIMEOUT_MS = 10000
local TOLD = {
  "fairgate-room", "fairgate-visitor", "fairgate-joined-at", "fairgate-admitted-at", "fairgate-pass",
}
-- Headers of one connection, or of a body that is not sent along.
local OWN = {
  ["connection"] = true, ["content-length"] = true, ["date"] = true, ["expect"] = true, ["fairgate-auth"] = true,
  ["keep-alive"] = true, ["proxy-connection"] = true, ["te"] = true, ["trailer"] = true,
  ["transfer-encoding"] = true, ["upgrade"] = true,
}

-- HAProxy counts the values of a header from 0.
local function first(headers, name)
  return headers[name] and headers[name][0]
end

local function ask(txn, method)
  if tonumber(txn.f:nbsrv("fairgate")) == 0 then return {} end
  local headers = {}
  for name, values in pairs(txn.http:req_get_headers()) do
    local list = {}
    for i = 0, #values do list[i + 1] = values[i] end
    if not OWN[name] then headers[name] = list end
  end
  headers["x-original-method"] = { method }
  headers["x-original-uri"] = { txn.sf:pathq() }
  return core.httpclient():get{ url = URL, headers = headers, timeout = TIMEOUT_MS }
end

local function reply(txn, method, status, headers, body)
  local answer = txn:reply()
  answer:set_status(status)
  for name, values in pairs(headers) do
    for i = 0, #values do
      if not OWN[name] then answer:add_header(name, values[i]) end
    end
  end
  if method ~= "HEAD" then answer:set_body(body) end
  txn:done(answer)
end

core.register_action("fairgate", { "http-req" }, function(txn)
  local method = txn.sf:method()
  local answer = ask(txn, method)
  local headers = answer.headers or {}
  local auth = first(headers, "fairgate-auth")
  if auth == "stop" then
    return reply(txn, method, answer.status, headers, answer.body)
  end
  -- Whatever does not say so did not come from Fairgate.
  if auth ~= "pass" and not IS_OPEN then
    local away = { ["retry-after"] = { [0] = "10" }, ["cache-control"] = { [0] = "no-store" }, ["content-type"] = { [0] = "text/plain" } }
    return reply(txn, method, 503, away, "The waiting room cannot be reached just now. Try again in a moment.\n")
  end
  -- Nobody can claim to have passed: what a visitor sends under these names never arrives.
  for name in pairs(txn.http:req_get_headers()) do
    if name:match("^fairgate[^%w]") then txn.http:req_del_header(name) end
  end
  if auth ~= "pass" then return end
  for _, name in ipairs(TOLD) do
    local value = first(headers, name)
    if value and value ~= "" then txn.http:req_set_header(name, value) end
  end
  if first(headers, "set-cookie") then txn:set_var("txn.fairgate_cookie", first(headers, "set-cookie")) end
  if first(headers, "fairgate-token") then txn:set_var("txn.fairgate_token", first(headers, "fairgate-token")) end
end)
