# frozen_string_literal: true

require "minitest/autorun"
require "open3"
require "finance_sandbox/minitest"

# The same twelve steps in every language, against the real program.
class TwelveStepsTest < Minitest::Test
  include FinanceSandbox::Minitest

  RUNS = "/api/business/payroll-runs"

  def test_twelve_steps
    client = world.client
    # 1. Read a list.
    companies = client.get("/api/business/companies")
    assert_equal 200, companies.status
    company = companies.body["data"][0]["id"]
    run = { company_id: company, period: "2026-01" }
    # 2. Iterate over pages.
    people = client.paginate("/api/business/employees", company_id: company, per_page: 10).map { |person| person["id"] }
    assert_equal [25, 25], [people.size, people.uniq.size]
    # 3. Read a refusal, which is not sent again.
    problem = assert_raises(FinanceSandbox::Problem) { client.post("/v1/payroll/run", { **run, employees: ["emp_0000000000000"] }) }
    assert_equal [404, "resource_not_found", false], [problem.status, problem.code, problem.retryable]
    assert_equal "/employees/0", problem.errors[0]["pointer"]
    assert_match(/\Areq_/, problem.request_id)
    world.verify(operation: "runPayroll", times: 1)
    # 4. Receive webhooks.
    receiver = world.receiver("payroll_run.*")
    # 5. Lose a reply after the commit. The retry has the same key and does not pay twice.
    world.fault(on: "runPayroll", lose: "reply", times: 1)
    accepted = client.post("/v1/payroll/run", run)
    assert_equal [201, "true"], [accepted.status, accepted.headers["Idempotent-Replayed"]]
    id = accepted.body["data"]["id"]
    world.verify(operation: "runPayroll", match: { status: 201 }, times: 2)
    world.verify(type: "payroll_run.created", times: 1)
    # 6. Take a snapshot and fork the world.
    before = world.snapshot
    copy = world.fork
    # 7. Advance the clock; every person is paid once.
    world.advance("30d")
    paid = client.get("#{RUNS}/#{id}").body["data"]
    assert_equal "paid", paid["status"]
    world.verify(type: "payroll_run.paid", times: 1)
    world.verify(type: "payout.paid", times: paid["employee_count"])
    assert_equal "calculating", copy.client.get("#{RUNS}/#{id}").body["data"]["status"]
    # 8. Wait for a webhook, whose signature is checked.
    event = receiver.wait_for("payroll_run.paid")
    assert_equal [id, []], [event["data"]["object"]["id"], receiver.refused]
    assert(world.deliveries(event_type: "payroll_run.paid").all? { |one| one["status"] == "delivered" })
    # 9. Read a PDF.
    payslip = client.get("/api/business/payslips", payroll_run_id: id, per_page: 1).body["data"][0]
    assert client.pdf("/api/business/payslips/#{payslip["id"]}").start_with?("%PDF-")
    # 10. Wait as long as `Retry-After` says.
    world.fault(on: "listEmployees", status: 503, retry_after: "1s", times: 1)
    started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    assert_equal 200, client.get("/api/business/employees").status
    assert_operator Process.clock_gettime(Process::CLOCK_MONOTONIC) - started, :>=, 0.99
    # 11. Go back, and let the bank refuse one payout.
    world.restore(before)
    assert_equal "calculating", client.get("#{RUNS}/#{id}").body["data"]["status"]
    copy.scenario("partial-failure")
    copy.client.post("/v1/payroll/run", { **run, period: "2026-03" })
    copy.advance("30d")
    partial = copy.client.get(RUNS, period: "2026-03", company_id: company).body["data"][0]
    assert_equal ["partially_paid", 1], [partial["status"], partial["settlement"]["failed"]]
    assert_equal 1, copy.events(type: "payout.failed").size
    # 12. A failed verification names the near miss; the report has events and decisions.
    miss = assert_raises(FinanceSandbox::Unmet) { world.verify(operation: "runPayroll", match: { body: { period: "2026-02" } }) }
    assert_match(%r{/body/period.*2026-01}, miss.message)
    report = world.report
    assert_includes report, "payroll_run.created prn_"
    assert_includes report, "payroll_run.calculate=on_time by default"
    assert_includes report, "POST /v1/payroll/run 404 resource_not_found"
    assert_match(/near misses:\n.*2026-02/, report)
    assert_includes copy.report, "payroll_run.partially_paid prn_" # the last events of many
  end

  def test_webhook_signatures
    secret, id, now = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD", "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk", 1_649_367_553
    body, right = '{"email":"test@example.com","username":"test_user"}', "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw="
    other = "whsec_#{["\0" * 24].pack("m0")}"
    headers = ->(signature, at = now) { { "Webhook-Id" => id, "webhook-timestamp" => at.to_s, "webhook-signature" => signature } }
    verify = ->(secrets, sent, content, at) { FinanceSandbox.verify_webhook(secrets, sent, content, now: at) }
    assert_equal "test_user", verify[secret, headers[right], body, now]["username"]
    assert verify[[other, secret], headers["v1,AAAA v2,BBBB #{right}"], body, now + 299]
    wrong = [
      [other, headers[right], body, now], [secret, headers[right], "#{body} ", now], [secret, headers[right], body, now + 301],
      [secret, headers[right], body, now - 301], [secret, headers[""], body, now], [secret, headers[right, ""], body, now],
      # Without a secret, anyone could sign.
      ["", headers["v1,TxHn/RBa2mQ2GpApCz3ahGwUTfWQtptCladBBU+Nv9k="], body, now], ["whsec_()", headers[right], body, now],
      ["#{secret}!", headers[right], body, now]
    ]
    wrong.each { |arguments| assert_raises(FinanceSandbox::WebhookError) { verify[*arguments] } }
  end

  FAILING = <<~'RUBY'
    world.client.get("/api/business/companies")
    world.client.get("/api/business/employees/emp_0000000000000") rescue nil
  RUBY
  REPORTED = "GET /api/business/employees/emp_0000000000000 404 resource_not_found"

  def test_a_failing_test_prints_what_happened_in_its_world
    script = <<~RUBY
      require "minitest/autorun"
      require "finance_sandbox/minitest"
      class Failing < Minitest::Test
        include FinanceSandbox::Minitest
        def test_fails; #{FAILING}; assert_equal 1, 2; end
        def test_raises; #{FAILING}; raise "mistake"; end
        def test_verifies
          world.verify(type: "payroll_run.paid", times: 0)
          world.verify(type: "payroll_run.paid", times: 1)
        end
      end
    RUBY
    output, status = Open3.capture2(RbConfig.ruby, "-I", $LOAD_PATH.grep(/clients.ruby.lib/).first, "-e", script)
    refute status.success?
    assert_equal 2, output.scan(REPORTED).size, output
    assert_match(/Expected: 1.*mistake|mistake.*Expected: 1/m, output)
    assert_match(/Failure:\nFailing#test_verifies \[-e:\d+\]:\nevents {"type":"payroll_run.paid","times":1}: fail/, output)
    assert_match(/^3 runs, 2 assertions, 2 failures, 1 errors/, output)
  end

  def test_the_client_gives_up_after_its_retries
    world.fault(on: "listEmployees", status: 503, times: 10)
    client = FinanceSandbox::Client.new(base_url: world.sandbox.url, api_key: world.key, retries: 1)
    problem = assert_raises(FinanceSandbox::Problem) { client.get("/api/business/employees") }
    assert_equal [503, "maintenance"], [problem.status, problem.code]
    world.verify(operation: "listEmployees", times: 2)
    world.fault(on: "listCompanies", body: "garbage", times: 1)
    assert_equal 200, client.get("/api/business/companies").status
  end

  def test_the_answers_of_a_proxy
    proxy, calls = TCPServer.new("127.0.0.1", 0), []
    thread = Thread.new do
      loop do
        socket = proxy.accept
        calls << socket.gets.split.first
        length = 0
        while (line = socket.gets.chomp) != ""
          length = line[/\Acontent-length: (\d+)/i, 1].to_i if line.match?(/\Acontent-length/i)
        end
        socket.read(length)
        status = calls == %w[GET GET] ? 200 : 503
        socket.write("HTTP/1.1 #{status} Answer\r\nRetry-After: #{(Time.now + 2).httpdate}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        socket.close
      end
    end
    client = FinanceSandbox::Client.new(base_url: "http://127.0.0.1:#{proxy.addr[1]}")
    started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    assert_equal 200, client.get("/").status
    assert_includes 0.9..5, Process.clock_gettime(Process::CLOCK_MONOTONIC) - started # until the date of `Retry-After`
    # It does not say whether the change took effect.
    assert_raises(FinanceSandbox::Problem) { client.request(:patch, "/", body: {}) }
    assert_equal %w[GET GET PATCH], calls
  ensure
    thread.kill
    proxy.close
  end

  def test_errors_of_others_in_json_are_problems_and_a_method_in_lower_case_has_a_key
    proxy, keys, body = TCPServer.new("127.0.0.1", 0), [], ""
    thread = Thread.new do
      loop do
        socket = proxy.accept
        head = []
        while (line = socket.gets.chomp) != ""
          head << line
        end
        socket.read(head.grep(/\Acontent-length/i).first.to_s[/\d+/].to_i)
        keys << head.grep(/\Aidempotency-key/i).first
        socket.write("HTTP/1.1 503 Answer\r\nContent-Type: application/json\r\nContent-Length: #{body.bytesize}\r\nConnection: close\r\n\r\n#{body}")
        socket.close
      end
    end
    client = FinanceSandbox::Client.new(base_url: "http://127.0.0.1:#{proxy.addr[1]}", retries: 1)
    ['{"error":"upstream"}', '{"error":null}', '{"errors":null}', '{"errors":["a"]}', "[1]", "7", "null", '"down"'].each do |foreign|
      body, keys = foreign, []
      problem = assert_raises(FinanceSandbox::Problem, foreign) { client.request("post", "/", body: {}) }
      assert_equal [503, [], true], [problem.status, problem.errors, problem.retryable], foreign
      assert_equal [2, 1], [keys.compact.size, keys.uniq.size], foreign
    end
    body = '{"error":{"code":"down","errors":["a",{"pointer":"/b","detail":"c"}]}}'
    problem = assert_raises(FinanceSandbox::Problem) { client.get("/") }
    assert_equal ["down", [{ "pointer" => "/b", "detail" => "c" }]], [problem.code, problem.errors]
  ensure
    thread.kill
    proxy.close
  end

  def test_live_updates_is_a_name_of_a_world
    assert_equal 200, world.client.get("/api/business/companies").status
  end

  def test_a_wrong_program_is_named
    wrong = assert_raises(RuntimeError) { FinanceSandbox::Sandbox.new(binary: "/no-such-program") }
    assert_match(/no-such-program does not start: No such file.*SANDBOX_BIN/, wrong.message)
    wrong = assert_raises(RuntimeError) { FinanceSandbox::Sandbox.new(binary: "echo") }
    assert_match(/echo does not serve: .*SANDBOX_BIN/, wrong.message)
    wrong = assert_raises(RuntimeError) { FinanceSandbox::Sandbox.new(clock: "sundial") }
    assert_match(/does not serve: it ended with 2/, wrong.message)
  end

  def test_a_fork_does_not_keep_the_program
    sandbox = FinanceSandbox::Sandbox.new
    reader, writer = IO.pipe
    fork = Process.fork do
      sandbox.stop # ends nothing
      writer.write("stopped\n")
      sleep 30
    ensure
      exit!
    end
    assert_equal "stopped\n", reader.gets
    assert_equal 200, FinanceSandbox::Client.new(base_url: sandbox.url, retries: 0).get("/_sandbox/health").status
    started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    assert_equal 0, sandbox.stop
    assert_operator Process.clock_gettime(Process::CLOCK_MONOTONIC) - started, :<, 10
  ensure
    Process.kill("KILL", fork)
    Process.wait(fork)
  end

  def test_the_program_ends_with_its_process_although_a_fork_remains
    skip "Ruby 3.0 does not say when a process forks" unless Process.respond_to?(:_fork)
    script = 'require "finance_sandbox/kit"; sandbox = FinanceSandbox::Sandbox.new; fork = Process.fork { sleep 60 }; ' \
             'puts [sandbox.instance_variable_get(:@pipe).pid, fork].join(" "); $stdout.flush; sleep 60'
    runner = IO.popen([RbConfig.ruby, "-I", "#{__dir__}/../lib", "-e", script])
    program, fork = runner.gets.split.map(&:to_i)
    Process.kill("KILL", runner.pid)
    limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 10
    sleep 0.05 while File.exist?("/proc/#{program}/exe") && Process.clock_gettime(Process::CLOCK_MONOTONIC) < limit
    refute File.exist?("/proc/#{program}/exe"), "the program remains"
  ensure
    Process.kill("KILL", fork) if fork
    runner&.close
  end

  def test_threads_share_one_server
    shared = FinanceSandbox::Sandbox.dup.tap { |kind| kind.instance_variable_set(:@shared, nil) }
    servers = Array.new(4) { Thread.new { shared.shared } }.map(&:value).uniq
    assert_equal 1, servers.size
  ensure
    servers&.each(&:stop)
  end

  def test_a_test_that_runs_again_has_its_world_in_its_first_state
    states = Array.new(2) do
      world = FinanceSandbox::Sandbox.shared.world("again")
      found = ["/fingerprint", "/webhook-endpoints"].map { |path| world.control(:get, path)["data"] }
      world.control(:post, "/webhook-endpoints", { url: "http://127.0.0.1:9/" })
      world.control(:post, "/reset", { seed: 7 })
      world.scenario("partial-failure")
      found
    end
    assert_equal [], states[0][1]
    assert_equal states[0], states[1]
  end

  def test_names_that_differ_in_what_a_key_does_not_have_have_their_own_worlds
    names = ["a b", "a-b", "a  b", "a b~1", "é", "ü", "a" * 300, "b#{"a" * 300}", "live " * 48, "b#{"live " * 48}"]
    worlds = names.map { |name| FinanceSandbox::Sandbox.shared.world(name) }
    keys = worlds.map(&:key) + worlds.map { |world| world.fork.key }
    assert_equal 20, keys.uniq.size
    assert_equal ["test_a-b", "test_-~4a99557e"], [keys[0], keys[4]]
    assert_match(/\Atest_a-b~/, keys[10])
  end

  def test_a_base_url_can_have_an_ipv6_address
    begin
      TCPServer.new("::1", 0).close
    rescue SystemCallError, SocketError
      skip "this system has no ::1"
    end
    sandbox = FinanceSandbox::Sandbox.new(args: ["--host", "::1"])
    assert_match(%r{\Ahttp://\[::1\]:\d+\z}, sandbox.url)
    assert_equal 200, sandbox.world("ipv6").client.get("/api/business/companies").status
  ensure
    sandbox&.stop
  end

  def test_a_world_whose_server_has_ended_has_no_report
    sandbox = FinanceSandbox::Sandbox.new
    world = sandbox.world("x")
    sandbox.stop
    assert_match(/\Ano report of the world: 0 no_reply/, world.safe_report)
  end

  def test_a_server_that_has_ended_is_named
    sandbox = FinanceSandbox::Sandbox.new
    world = sandbox.world("killed")
    Process.kill("KILL", sandbox.instance_variable_get(:@pipe).pid)
    [-> { world.snapshot }, -> { world.report }, -> { sandbox.world("next") }].each do |call|
      assert_match(/\A0 no_reply: .*; the sandbox has ended with signal 9\z/, assert_raises(FinanceSandbox::Problem, &call).message)
    end
    assert_nil sandbox.stop # the exit code of a killed process
    sandbox = FinanceSandbox::Sandbox.new
    world = sandbox.world("stopped")
    assert_equal 0, sandbox.stop
    assert_match(/; the sandbox has ended with exit code 0\z/, assert_raises(FinanceSandbox::Problem) { world.snapshot }.message)
  end

  def test_stop_ends_the_program_cleanly
    sandbox = FinanceSandbox::Sandbox.new
    assert_equal 0, sandbox.stop
    problem = assert_raises(FinanceSandbox::Problem) { FinanceSandbox::Client.new(base_url: sandbox.url, retries: 0).get("/_sandbox/health") }
    assert_equal [0, "no_reply"], [problem.status, problem.code]
    assert_equal 0, sandbox.stop # a second call returns the same
  end
end
