# frozen_string_literal: true

require "minitest/autorun"
require "socket"
require "finance_sandbox"

# The cases of `clients/cases.json`, which all six clients share.
class CasesTest < Minitest::Test
  CASES = JSON.parse(File.read("#{__dir__}/../../cases.json", encoding: "UTF-8"))

  # Answers each request with the bytes of `reply`, and keeps the head of the request.
  class Stub
    attr_accessor :reply, :slow
    attr_reader :url, :heads

    def initialize
      @heads = []
      server = TCPServer.new("127.0.0.1", 0)
      @url = "http://127.0.0.1:#{server.addr[1]}"
      Thread.new { loop { answer(server.accept) } }
    end

    def answer(socket)
      head = socket.gets("\r\n\r\n")
      socket.read(head[/^content-length: (\d+)/i, 1].to_i)
      @heads << head
      start, body = @reply.split("\r\n\r\n", 2)
      socket.write("#{start}\r\n\r\n")
      (@slow ? body.chars : [body]).each do |part|
        socket.write(part)
        sleep(0.1) if @slow
      end
    rescue SystemCallError
      nil # the client does not wait for the rest
    ensure
      socket.close
    end
  end

  STUB = Stub.new

  def setup
    STUB.reply, STUB.slow = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", false
    STUB.heads.clear
  end

  def client(**options) = FinanceSandbox::Client.new(base_url: STUB.url, retries: 0, **options)

  CASES["replies"].each do |row|
    define_method("test_#{row["name"]}") do
      STUB.reply, STUB.slow = row["reply"], row["slow"]
      if (expected = row["problem"])
        problem = assert_raises(FinanceSandbox::Problem) { client(timeout: 1).request(row["method"], "/") }
        assert_equal [row["status"], expected["code"], expected["retryable"]], [problem.status, problem.code, problem.retryable]
        assert_includes problem.detail, expected["detail"]
      else
        reply = client.request(row["method"], "/")
        assert_equal [row["status"], ""], [reply.status, reply.body]
      end
      assert_equal 1, STUB.heads.size
    end
  end

  CASES["requests"].each do |row|
    define_method("test_#{row["name"]}") do
      body = row["method"] == "POST" ? {} : nil
      options = { query: row["query"], headers: row["headers"] }.compact
      client(headers: row.fetch("client_headers", {})).request(row["method"], row["path"], body: body, **options)
      first, *lines = STUB.heads[0].split("\r\n")
      assert_equal row["target"], first.split[1]
      headers = lines.map { |line| line.split(": ", 2) }.map { |name, value| [name.downcase, value] }
      row.fetch("sent", {}).each { |name, value| assert_equal [[name, value]], headers.select { |given, _| given == name } }
      refute_includes headers.map(&:last), row.fetch("unsent", "-")
    end
  end

  CASES["webhooks"].each do |row|
    define_method("test_#{row["name"]}") do
      headers = { "webhook-id" => "evt_1", "webhook-timestamp" => row["timestamp"], "webhook-signature" => row["signature"] }
      verify = -> { FinanceSandbox.verify_webhook(row["secret"], headers, row["body"].unpack1("m"), now: CASES["now"]) }
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

  def test_a_page_can_be_a_text
    STUB.reply = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{\"data\":[]}"
    assert_empty client.paginate("/list", page: "2").to_a
    assert_match(%r{\AGET /list\?page=2 }, STUB.heads[0])
  end

  def test_a_body_that_json_cannot_express_is_not_sent
    assert_raises(JSON::GeneratorError) { client.post("/", { amount: Float::NAN }) }
  end
end
