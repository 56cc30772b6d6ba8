# frozen_string_literal: true

require "minitest/autorun"
require "socket"
require "finance_sandbox"

# The cases of `clients/cases.json`, which all six clients share.
class CasesTest < Minitest::Test
  CASES = JSON.parse(File.read("#{__dir__}/../../cases.json", encoding: "UTF-8"))

  # Answers the requests with the bytes of `replies`, the last of them again and again, and keeps the requests.
  class Stub
    attr_accessor :replies, :slow_from
    attr_reader :url, :heads, :bodies

    def initialize
      @heads, @bodies = [], []
      server = TCPServer.new("127.0.0.1", 0)
      @url = "http://127.0.0.1:#{server.addr[1]}"
      Thread.new { loop { answer(server.accept) } }
    end

    def answer(socket)
      head = socket.gets("\r\n\r\n")
      @bodies << socket.read(head[/^content-length: (\d+)/i, 1].to_i)
      reply = @replies[[@heads.size, @replies.size - 1].min]
      @heads << head
      fast = @slow_from || reply.bytesize
      socket.write(reply.byteslice(0, fast))
      reply.byteslice(fast..).each_char do |part|
        socket.write(part)
        sleep(0.1)
      end
    rescue SystemCallError
      nil # the client does not wait for the rest
    ensure
      socket.close
    end
  end

  STUB = Stub.new

  def setup = answer("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")

  def answer(*replies, slow_from: nil)
    STUB.replies, STUB.slow_from = replies, slow_from
    [STUB.heads, STUB.bodies].each(&:clear)
  end

  def client(**options) = FinanceSandbox::Client.new(base_url: STUB.url, retries: 0, **options)

  def check_problem(problem, status, expected)
    assert_equal [status, expected["code"], expected["retryable"]], [problem.status, problem.code, problem.retryable]
    assert_includes problem.detail, expected["detail"]
  end

  def reply_of(row, reply)
    head, separator, content = reply.partition("\r\n\r\n")
    (head + separator + content * row.fetch("times", 1)).b + row.fetch("content", "").unpack1("m")
  end

  CASES["replies"].each do |row|
    define_method("test_reply_#{row["name"]}") do
      replies = row.fetch("replies", [row["reply"]]).map { |reply| reply_of(row, reply) }
      answer(*replies, slow_from: row["slow_head"] ? 40 : row["slow"] && replies[0].index("\r\n\r\n") + 4)
      caller = client(timeout: 1, retries: row.key?("replies") ? 3 : 0)
      started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      if row["problem"]
        check_problem(assert_raises(FinanceSandbox::Problem) { caller.request(row["method"], "/") }, row["status"], row["problem"])
      else
        reply = caller.request(row["method"], "/")
        assert_equal [row["status"], row["json"] || row["text"] || ""], [reply.status, reply.body]
      end
      assert_includes row.fetch("waits", 0)..3, Process.clock_gettime(Process::CLOCK_MONOTONIC) - started
      assert_equal row.fetch("requests", 1), STUB.heads.size
      keys = STUB.heads.filter_map { |head| head[/^idempotency-key: (.+)\r$/i, 1] }
      assert_equal row["method"] == "POST" ? STUB.heads.size : 0, keys.size
      assert_operator keys.uniq.size, :<=, 1
    end
  end

  CASES["requests"].each do |row|
    define_method("test_request_#{row["name"]}") do
      body = row["method"] == "POST" ? row.fetch("body", {}) : nil
      options = { query: row["query"], headers: row["headers"] }.compact
      call = -> { client(headers: row.fetch("client_headers", {}), retries: 3).request(row["method"], row["path"], body: body, **options) }
      if row["refused"]
        assert_raises(ArgumentError, &call)
        next assert_empty STUB.heads
      end

      call.call
      first, *lines = STUB.heads[0].split("\r\n")
      assert_equal row["target"], first.split[1]
      assert_equal [body], [STUB.bodies[0].empty? ? nil : JSON.parse(STUB.bodies[0])]
      headers = lines.map { |line| line.split(": ", 2) }.map { |name, value| [name.downcase, value] }
      row.fetch("sent", {}).each { |name, value| assert_equal [[name, value]], headers.select { |given, _| given == name } }
      refute_includes headers.map(&:last), row.fetch("unsent", "-")
      assert_equal [false], headers.filter_map { |name, value| [value.strip.empty?] if name == "idempotency-key" }.flatten if row["new_key"]
    end
  end

  CASES["pages"].each do |row|
    define_method("test_pages_#{row["name"]}") do
      answer(*row["replies"])
      items = client.paginate(row["path"], **row.fetch("query", {}).transform_keys(&:to_sym))
      if row["problem"]
        check_problem(assert_raises(FinanceSandbox::Problem) { items.to_a }, 0, row["problem"])
      else
        assert_equal row["ids"], items.map { |item| item["id"] }
      end
      assert_equal row["targets"], STUB.heads.map { |head| head.split[1] }
    end
  end

  CASES["webhooks"].each do |row|
    define_method("test_webhook_#{row["name"]}") do
      headers = { "webhook-timestamp" => row["timestamp"], "webhook-signature" => row["signature"] }
      headers["webhook-id"] = "evt_1" unless row.key?("id")
      secrets, options = row["secrets"] || row["secret"], { now: CASES["now"], tolerance: row["tolerance"] }.compact
      verify = -> { FinanceSandbox.verify_webhook(secrets, headers, row["body"].unpack1("m"), **options) }
      if row["right"]
        assert_equal({ "id" => "evt_1" }, verify.call)
      else
        assert_raises(FinanceSandbox::WebhookError, &verify)
      end
    end
  end

  def test_headers_of_a_webhook_can_have_any_bytes
    headers = { "webhook-timestamp" => CASES["now"].to_s, "webhook-signature" => "v1,\xFF" }
    assert_raises(FinanceSandbox::WebhookError) { FinanceSandbox.verify_webhook("whsec_AAAA", headers, "{}", now: CASES["now"]) }
    assert_raises(FinanceSandbox::WebhookError) { FinanceSandbox.verify_webhook("whsec_AAAA", { "webhook-timestamp" => "\xFF" }, "{}") }
  end

  def test_headers_of_a_webhook_can_have_the_names_of_rack
    row = CASES["webhooks"][0]
    headers = { "HTTP_WEBHOOK_ID" => "evt_1", "HTTP_WEBHOOK_TIMESTAMP" => row["timestamp"], "HTTP_WEBHOOK_SIGNATURE" => row["signature"] }
    assert_equal({ "id" => "evt_1" }, FinanceSandbox.verify_webhook(row["secret"], headers, "{\"id\":\"evt_1\"}", now: CASES["now"]))
  end

  def test_times_are_sent_as_the_api_writes_them
    at, on = Time.utc(2026, 1, 31, 12, 30), Date.new(2026, 1, 31)
    client.request(:post, "/list", body: { list: [{ at: at, on: on }] }, query: { at: at, on: on })
    assert_match(%r{\APOST /list\?at=2026-01-31T12%3A30%3A00.000Z&on=2026-01-31 }, STUB.heads[0])
    assert_equal({ "list" => [{ "at" => "2026-01-31T12:30:00.000Z", "on" => "2026-01-31" }] }, JSON.parse(STUB.bodies[0]))
  end

  def test_a_base_url_can_end_with_slashes
    FinanceSandbox::Client.new(base_url: "#{STUB.url}//").get("/list")
    assert_match(%r{\AGET /list }, STUB.heads[0])
  end

  def test_a_page_can_be_a_text
    answer("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{\"data\":[]}")
    assert_empty client.paginate("/list", page: "2").to_a
    assert_match(%r{\AGET /list\?page=2 }, STUB.heads[0])
  end

  def test_a_body_that_json_cannot_express_is_not_sent
    assert_raises(JSON::GeneratorError) { client.post("/", { amount: Float::NAN }) }
  end
end
