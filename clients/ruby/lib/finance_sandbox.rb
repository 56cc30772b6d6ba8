# frozen_string_literal: true

require "json"
require "net/http"
require "openssl"
require "securerandom"
require "time"

# A thin client: it implements the conventions of the API, and no single operation. It has no dependencies.
module FinanceSandbox
  # A refusal of the API (RFC 9457), or a reply that cannot be read (`status` 0).
  class Problem < StandardError
    attr_reader :status, :code, :title, :detail, :errors, :request_id, :retryable, :retry_after, :body

    def initialize(status, body, retry_after = 0, text = nil)
      @status, @body, @retry_after = status, body, retry_after
      # A proxy can send anything.
      @code, @title, @detail, @request_id = body.values_at("code", "title", "detail", "request_id").map { |value| value if value.is_a?(String) }
      @code ||= "unknown"
      @detail ||= @title || (text unless text.to_s.empty?)
      @errors = body["errors"].is_a?(Array) ? body["errors"].grep(Hash) : []
      @retryable = explicit? ? body["retryable"] : [0, 408, 429, 502, 503, 504].include?(status)
      places = @errors.map { |error| "\n  #{error["pointer"]}: #{error["detail"]}" }.join
      super("#{status} #{@code}: #{@detail || "no detail"}#{places}")
    end

    # Whether the API itself says if it is retryable.
    def explicit? = [true, false].include?(@body["retryable"])
  end

  # A success. `body` is parsed JSON, or the bytes of any other content. `headers["name"]` is a header.
  Reply = Struct.new(:status, :headers, :body)

  # Calls the API with a key; in the sandbox the key selects the world. `retries` follow the first attempt.
  class Client
    LOST = [SystemCallError, IOError, SocketError, Timeout::Error, Net::ProtocolError, Net::HTTPBadResponse, Net::HTTPHeaderSyntaxError,
            OpenSSL::SSL::SSLError].freeze

    attr_reader :base_url, :api_key

    def initialize(base_url: "http://127.0.0.1:4747", api_key: "test_key", retries: 3, timeout: 30, headers: {})
      @base_url, @api_key, @retries, @timeout, @headers = base_url.sub(%r{/+\z}, ""), api_key, retries, timeout, headers
    end

    def get(path, **query) = request(:get, path, query: query)

    def post(path, body = nil, **options) = request(:post, path, body: body, **options)

    # The bytes of a PDF.
    def pdf(path, **query) = request(:get, path, query: query, headers: { "Accept" => "application/pdf" }).body

    # The items of a list, one page at a time.
    def paginate(path, **query)
      return enum_for(:paginate, path, **query) unless block_given?

      page = Integer(query.fetch(:page, 1))
      seen = 0
      loop do
        body = get(path, **query, page: page).body
        items = body["data"] if body.is_a?(Hash)
        unless items.is_a?(Array)
          raise Problem.new(0, { "code" => "invalid_reply", "detail" => "GET #{path}: the reply is not a list", "retryable" => false })
        end
        items.each { |item| yield item }
        seen += items.size
        page += 1
        total = body["meta"]["total"] if body["meta"].is_a?(Hash)
        return if items.empty? || (!query.key?(:page) && total && seen >= total)
      end
    end

    # Sends a request. A POST has an `Idempotency-Key`, which is the same in every retry.
    def request(method, path, body: nil, query: {}, headers: {}, idempotency_key: nil)
      uri = URI(@base_url + target(path))
      # A list repeats the name; nil is left out.
      pairs = query.flat_map { |name, value| [value].flatten.compact.map { |one| [name, plain(one)] } }
      uri.query = [uri.query, URI.encode_www_form(pairs)].compact.join("&") unless pairs.empty?
      kind = Net::HTTP.const_get(method.to_s.capitalize)
      # Of a compressed reply, net/http does not say whether it is complete.
      sent = { "authorization" => "Bearer #{@api_key}", "accept" => "application/json", "accept-encoding" => "identity" }
      # net/http leaves out the brackets of an IPv6 address.
      sent["host"] = uri.port == uri.default_port ? uri.host : "#{uri.host}:#{uri.port}"
      # Without it, net/http would name the type of a form, also for a call without a body.
      sent["content-type"] = "application/json" if kind::REQUEST_HAS_BODY || !body.nil?
      sent.update(lower(@headers))
      is_post = kind == Net::HTTP::Post
      sent["idempotency-key"] = idempotency_key if is_post
      sent.update(lower(headers))
      sent["idempotency-key"] = SecureRandom.uuid if is_post && sent["idempotency-key"].to_s.strip.empty?
      call = kind.new(uri.request_uri, sent)
      call.body = JSON.generate(plain(body)) unless body.nil?
      attempt = 0
      begin
        exchange(uri, call)
      rescue Problem => problem
        # A PATCH has no idempotency key: without an answer of the API, the client cannot know whether it took effect.
        unsafe = call.method == "PATCH" && !problem.explicit?
        raise if !problem.retryable || unsafe || attempt >= @retries || problem.retry_after > 60

        sleep(problem.retry_after.nonzero? || ([0.1 * 2**attempt, 2].min * rand(0.5..1.0)))
        attempt += 1
        retry
      end
    end

    private

    def lower(headers) = headers.transform_keys { |name| name.to_s.downcase }

    # The path and its query, with everything encoded that a URL does not have. What is encoded stays.
    def target(path)
      encoded = path.b.gsub(/%(?!\h{2})|[^\w\-.~!$&()*+,\/:;=?@%]/n) { |one| format("%%%02X", one.ord) }.force_encoding("UTF-8")
      encoded.start_with?("/") ? encoded : "/#{encoded}"
    end

    # Times and dates as the API writes them.
    def plain(value)
      case value
      when Hash then value.transform_values { |member| plain(member) }
      when Array then value.map { |item| plain(item) }
      when Time, DateTime then value.iso8601(3)
      else value
      end
    end

    def exchange(uri, call)
      http = Net::HTTP.new(uri.hostname, uri.port)
      http.use_ssl = uri.scheme == "https"
      http.open_timeout = http.read_timeout = http.write_timeout = @timeout
      http.max_retries = 0 # the rule above decides about retries
      # The time limits of net/http begin again with each part of a reply.
      reply = Timeout.timeout(@timeout) { http.start { http.request(call) } }
      content = reply.body.to_s
      status = reply.code.to_i
      has_content = call.method != "HEAD" && ![204, 304].include?(status)
      raise EOFError, "the body is not complete" if has_content && content.bytesize < reply.content_length.to_i
      # A head that ends too early is one without a length for net/http.
      has_end = !content.empty? || reply.content_length || reply.chunked? || reply["Connection"].to_s.casecmp?("close")
      raise EOFError, "the head is not complete" unless has_end || !has_content

      is_json = has_content && reply["Content-Type"].to_s.match?(%r{\A[^;]*[/+]json\s*(;|\z)}i)
      parsed = is_json ? parse(content) : content
      if (300...400).cover?(status) && status != 304
        detail = "#{call.method} #{uri.path}: the reply redirects to #{reply["Location"]}"
        raise Problem.new(status, { "code" => "redirect", "detail" => detail })
      end
      if status >= 400
        text = content.dup.force_encoding("UTF-8").scrub
        problem = parsed.is_a?(Hash) ? parsed : { "detail" => text }
        problem = problem["error"] if problem["error"].is_a?(Hash)
        raise Problem.new(status, problem, seconds(reply["Retry-After"].to_s), text)
      end
      raise Problem.new(0, { "code" => "invalid_reply", "detail" => "#{call.method} #{uri.path}: the body is not JSON" }) if parsed.nil?

      Reply.new(status, reply, parsed)
    rescue *LOST => lost
      raise Problem.new(0, { "code" => "no_reply", "detail" => "#{call.method} #{uri.path}: #{lost.message}" })
    end

    # The seconds of a `Retry-After`, which is a number or a date.
    def seconds(retry_after)
      return retry_after.to_i if retry_after.match?(/\A\d+\z/)

      [Time.httpdate(retry_after) - Time.now, 0].max
    rescue ArgumentError
      0
    end

    def parse(content)
      text = content.dup.force_encoding("UTF-8")
      JSON.parse(text) if text.valid_encoding?
    rescue JSON::ParserError
      nil
    end
  end

  # A delivery whose signature, time or body is wrong.
  class WebhookError < StandardError; end

  # Checks a delivery by Standard Webhooks and returns its event. `body` is the bytes as received. `secrets` is one
  # secret, or several while a secret is replaced.
  def self.verify_webhook(secrets, headers, body, tolerance: 300, now: Time.now)
    # Rack and Rails have HTTP_WEBHOOK_ID. Any byte can arrive.
    found = headers.to_h.to_h { |name, value| [name.to_s.downcase.delete_prefix("http_").tr("_", "-"), value.to_s.b] }
    raise WebhookError, "webhook-id is missing" if found["webhook-id"].to_s.empty?

    timestamp = found["webhook-timestamp"].to_s
    raise WebhookError, "webhook-timestamp is missing or no number" unless timestamp.match?(/\A\d{1,12}\z/)
    raise WebhookError, "webhook-timestamp is too old or in the future" if (now.to_i - timestamp.to_i).abs > tolerance

    given = found["webhook-signature"].to_s.split
    right = Array(secrets).any? do |secret|
      key = secret.delete_prefix("whsec_").then { |text| text.unpack1("m0") rescue "" } # strict: raises for what is not base64
      raise WebhookError, "the secret is empty or not base64" if key.empty? # with an empty key, anyone could sign

      wanted = "v1,#{[OpenSSL::HMAC.digest("SHA256", key, "#{found["webhook-id"]}.#{timestamp}.".b + body.b)].pack("m0")}"
      given.any? { |one| one.bytesize == wanted.bytesize && OpenSSL.fixed_length_secure_compare(one, wanted) }
    end
    raise WebhookError, "webhook-signature is wrong" unless right

    text = body.dup.force_encoding("UTF-8")
    event = JSON.parse(text) rescue nil if text.valid_encoding?
    raise WebhookError, "the body is no JSON object" unless event.is_a?(Hash)

    event
  end
end
