# frozen_string_literal: true

require "finance_sandbox"
require "socket"

module FinanceSandbox
  # A verification that failed, or a webhook that did not arrive.
  class Unmet < StandardError; end

  # A running sandbox. It ends with this process, even if the process is killed.
  class Sandbox
    attr_reader :url

    LOCK = Mutex.new
    @running = ObjectSpace::WeakMap.new

    # The server that all tests of this process share, also those of several threads.
    def self.shared(**options) = LOCK.synchronize { @shared ||= new(**options) }

    def self.running = @running

    def initialize(binary: ENV.fetch("SANDBOX_BIN", "sandbox"), seed: 42, clock: "manual", args: [])
      command = [binary, "--port", "0", "--quiet", "--exit-with-stdin", "--seed", seed.to_s, "--clock", clock, *args]
      unset = ENV.keys.select { |name| name == "PORT" || name.start_with?("SANDBOX_") }.to_h { |name| [name, nil] }
      begin
        @pipe = IO.popen([unset, *command], "r+")
      rescue SystemCallError => lost
        raise "#{binary} does not start: #{lost.message}; SANDBOX_BIN names another program"
      end
      @owner = Process.pid
      Sandbox.running[self] = true
      ready = @pipe.gets.to_s
      unless ready.start_with?("listening on ")
        @pipe.close
        found = ready.empty? ? "it ended with #{$?.exitstatus}" : ready.strip
        raise "#{binary} does not serve: #{found}; SANDBOX_BIN names another program"
      end
      @url = ready.delete_prefix("listening on ").strip
      @forks = 0
    end

    # A world of its own, in its first state. The name of the test selects it.
    def world(name)
      # A key with `_live_` would be refused as a live one.
      usable = name.gsub(/[^!-~]+/, "-").gsub(/(^|[_-])live/i, '\0.')
      # A `-` replaces one space, and `~` begins what is added. A name that has them could get the key of another name.
      is_whole = usable.size <= 240 && !name.match?(/[^ -,.-}]|  /)
      usable = "#{usable[-231..] || usable}~#{OpenSSL::Digest::SHA256.hexdigest(name)[0, 8]}" unless is_whole
      world = World.new(self, "test_#{usable}")
      world.control(:delete, "/world") # a reset keeps the scenario, seed and endpoints of an earlier run of this test
      world
    end

    def fork_key(key) = "#{key[-240..] || key}~#{LOCK.synchronize { @forks += 1 }}"

    # How the program has ended, such as `exit code 0`. Nil while it runs, and in a fork of the process that started it.
    def ending
      return unless Process.pid == @owner

      100.times do # its connections end a moment before
        LOCK.synchronize { @ended ||= Process.wait2(@pipe.pid, Process::WNOHANG)&.last }
        break if @ended

        sleep 0.01
      end
      return unless @ended

      @ended.signaled? ? "signal #{@ended.termsig}" : "exit code #{@ended.exitstatus}"
    end

    # Ends the server and returns its exit code. Does nothing in a fork of the process that started it.
    def stop
      return 0 unless Process.pid == @owner

      unless @pipe.closed?
        # The program stops cleanly, also if another process holds its standard input open.
        Process.kill("TERM", @pipe.pid) unless @ended || Gem.win_platform?
        @pipe.close
        @ended ||= $?
      end
      @ended.exitstatus
    end

    # A fork of this process has a copy of the pipe, which would keep the server alive.
    def release = @pipe.closed? || @pipe.close_write

    # Ruby 3.1 and later call this for each fork.
    module Fork
      def _fork
        super.tap { |pid| Sandbox.running.each_key(&:release) if pid.zero? }
      end
    end
    Process.singleton_class.prepend(Fork)
  end

  # The world of one test. `client` is a client of it, for the code under test.
  class World
    # `verified` is how many calls of `verify` passed.
    attr_reader :client, :key, :sandbox, :verified

    def initialize(sandbox, key)
      @sandbox, @key, @client = sandbox, key, Client.new(base_url: sandbox.url, api_key: key)
      # Never repeated: the control plane has no idempotency keys.
      @tools = Client.new(base_url: sandbox.url, api_key: key, retries: 0, timeout: 120)
      @receivers, @misses, @verified = [], [], 0
    end

    # Calls a route below `/_sandbox`. Returns the body: `data`, and `meta` of lists.
    def control(method, path, body = nil, **query)
      @tools.request(method, "/_sandbox#{path}", body: body, query: query).body
    rescue Problem => lost
      ending = @sandbox.ending if lost.status.zero?
      raise unless ending

      raise Problem.new(0, { **lost.body, "detail" => "#{lost.detail}; the sandbox has ended with #{ending}" })
    end

    # Advances the clock: `advance("10d")`, `advance(to: "…")`, `advance(until: "idle")`.
    def advance(by = nil, **body) = data("/clock/advance", by ? { by: by, **body } : body)

    # Starts the world again with a scenario.
    def scenario(name) = data("/scenarios/#{name}/load")

    def fault(**row) = data("/faults", row)

    def rule(**row) = data("/rules", row)

    def events(**query) = control(:get, "/events", per_page: 100, **query)["data"]

    def deliveries(**query) = control(:get, "/deliveries", per_page: 100, **query)["data"]

    # Verifies calls (`operation`), events (`type`) or deliveries (`event_type`); `Unmet` unless the verdict is `pass`.
    def verify(**row)
      kind = row.key?(:operation) ? "requests" : row.key?(:event_type) ? "deliveries" : "events"
      verdict = data("/#{kind}/verify", row)
      if verdict["verdict"] == "pass"
        @verified += 1
        return verdict
      end
      @misses << "#{kind} #{row.to_json}: #{verdict["verdict"]}, matched #{verdict["matched"]}, nearest #{verdict["nearest"].to_json}"
      raise Unmet, @misses.last
    end

    def snapshot = data("/snapshots", {})["id"]

    def restore(snapshot) = data("/snapshots/#{snapshot}/restore")

    # Another world with a copy of this one.
    def fork
      copy = World.new(@sandbox, @sandbox.fork_key(@key))
      control(:post, "/snapshots/#{snapshot}/fork", { key: copy.key })
      copy
    end

    # A local receiver of the webhooks of these types, by default of all.
    def receiver(*events)
      receiver = Receiver.new
      @receivers << receiver
      wanted = events.empty? ? {} : { events: events }
      control(:post, "/webhook-endpoints", { url: receiver.url, secret: receiver.secret, **wanted })
      receiver
    end

    # What happened in this world: the last events, decisions and refused calls, and the near misses of `verify`.
    def report
      last = lambda do |path|
        total = control(:get, path, per_page: 1)["meta"]["total"]
        control(:get, path, per_page: 30, page: [(total / 30.0).ceil, 1].max)["data"]
      end
      section = ->(title, rows) { "\n#{title}:#{rows.empty? ? " none" : rows.map { |row| "\n  #{row}" }.join}" }
      newest = events(per_page: 30, sort: "-sequence").reverse
      events = newest.map { |one| "#{one["timestamp"]} #{one["type"]} #{one.dig("data", "object", "id")}" }
      decisions = last["/decisions"].map do |one|
        "#{one["at"]} #{one["decision"]}=#{one["chosen"]} by #{one["source"] || one["why"]} #{one["subject_id"]}"
      end
      refused = last["/requests"].select { |one| one["status"].to_i >= 400 }
      calls = refused.map { |one| one.values_at("method", "path", "status", "error").join(" ") }
      "world #{@key} of #{@sandbox.url}#{section["last events", events]}#{section["last decisions", decisions]}" \
        "#{section["refused calls", calls]}#{section["near misses", @misses]}"
    end

    # The report of a test that has failed, perhaps because the server has ended.
    def safe_report
      report
    rescue Problem => lost
      "no report of the world: #{lost.message}"
    end

    def close = @receivers.each(&:close)

    private

    def data(path, body = nil) = control(:post, path, body)["data"]
  end

  # A local receiver. It checks every signature and refuses a delivery that is not signed with its secret.
  class Receiver
    attr_reader :url, :secret, :events, :refused
    attr_writer :status

    def initialize
      @secret = "whsec_#{[SecureRandom.bytes(24)].pack("m0")}"
      @events, @refused, @status = [], [], 204
      @lock, @arrived = Mutex.new, ConditionVariable.new
      @server = TCPServer.new("127.0.0.1", 0)
      @url = "http://127.0.0.1:#{@server.addr[1]}/"
      @thread = Thread.new { loop { Thread.new(@server.accept) { |socket| receive(socket) } } }
      @thread.report_on_exception = false
    end

    # The first event of this type, and for which the block is true, that arrived or arrives in time.
    def wait_for(type, timeout: 10)
      limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + timeout
      @lock.synchronize do
        loop do
          found = @events.find { |event| event["type"] == type && (!block_given? || yield(event)) }
          return found if found

          left = limit - Process.clock_gettime(Process::CLOCK_MONOTONIC)
          if left <= 0
            types = @events.map { |event| event["type"] }.uniq.join(", ")
            raise Unmet, "#{type} did not arrive in #{timeout} s; received: #{types.empty? ? "nothing" : types}; refused: #{@refused.size}"
          end
          @arrived.wait(@lock, left)
        end
      end
    end

    def close
      @thread.kill
      @server.close
    end

    private

    def receive(socket)
      socket.gets
      headers = {}
      while (line = socket.gets.to_s.chomp) != ""
        name, value = line.split(": ", 2)
        headers[name.downcase] = value
      end
      body = socket.read(headers["content-length"].to_i)
      status = @lock.synchronize { keep(headers, body) }
      socket.write("HTTP/1.1 #{status} Answer\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    ensure
      socket.close
    end

    def keep(headers, body)
      @events << FinanceSandbox.verify_webhook(@secret, headers, body)
      @status
    rescue WebhookError => error
      @refused << error
      400
    ensure
      @arrived.broadcast
    end
  end
end
